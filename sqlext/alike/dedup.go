package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect/option"
	"github.com/alike-sql/alike/sketch/cluster"
	"github.com/alike-sql/alike/sketch/report"
)

// featureLimit is the number of documents that may share a feature. Above it each document is compared with only a few of them.
const featureLimit = 1000

// sampled is the number of records that dedup reads to choose a profile.
const sampled = 1000

// shownUnread is the number of unread files that the summary names.
const shownUnread = 10

// dedup is one run of alike dedup.
type dedup struct {
	options
	*command
	profile, keep, out, why string
	atLeast                 float64
	more                    *option.Short // of short records
	quiet                   bool

	settings  sketch.Profile
	sketches  *os.File
	ends      []int64 // of each record's sketch in that file
	lengths   []int32 // of the documents in bytes, for the rule longest
	short     []bool  // the records of which --short asks more
	finder    *cluster.Finder
	instead   []int32 // the record that stands for it, or -1
	resembles []float32
	time      func(i int) int64
}

func (c *command) dedupCommand() *cobra.Command {
	d := &dedup{}
	cmd := &cobra.Command{
		Use:   "dedup IN...",
		Short: "Of records that are alike, keep one",
		Long: `dedup reads the records of IN and writes those that it keeps in the same format: no two of them resemble each other from
--at-least on, and each that is left out resembles a record that is kept. IN is a file of comma-separated values, of values with
tabs between them, of JSON objects a line, of lines, a Parquet file, a table of a SQLite database (--table), a folder, of
which it prints the paths of the files to keep, or - for the standard input. Files may be compressed with gzip. Several
inputs of one kind become one output.

A folder may hold text, pages, PDF (read by pdftotext) and word processor documents (read by pandoc); a file without a text that
can be read is kept, and named on the standard error.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d.command = c
			return d.run(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&d.out, "output", "o", "-", "the file for the records that are kept")
	f.StringVar(&d.why, "why", "", "a `file`, .csv or .jsonl, for the records that are left out, with those kept in their place")
	f.StringVar(&d.keep, "keep", "first", "which of alike records stays: first, last, oldest, newest, longest or popular; files have a time, other records are newest last")
	f.Float64Var(&d.atLeast, "at-least", 0.8, "the smallest resemblance, above 0 to 1; more than the profiles' own, since records go")
	d.more = option.AddShort(f)
	f.StringVar(&d.profile, "profile", "", "the profile; chosen by a look at the records unless given")
	f.StringVar(&d.kind, "format", "", "csv, tsv, jsonl, lines, parquet or sqlite; told by the name unless given")
	f.StringVar(&d.column, "column", "", "the column of the documents; the only one, or one with a usual name, unless given")
	f.StringVar(&d.table, "table", "", "the table, of a SQLite database")
	f.BoolVarP(&d.null, "null", "0", false, "end the paths of a folder with a zero byte, for xargs -0")
	f.BoolVarP(&d.quiet, "quiet", "q", false, "no progress, no summary; with --json the summary is an object")
	return cmd
}

func (d *dedup) run(cmd *cobra.Command, inputs []string) error {
	if !slices.Contains([]string{"first", "last", "oldest", "newest", "longest", "popular"}, d.keep) {
		return usagef("--keep is %q, want first, last, oldest, newest, longest or popular", d.keep)
	}
	if !(d.atLeast > 0 && d.atLeast <= 1) {
		return usagef("--at-least is %g, want a number above 0 and at most 1", d.atLeast)
	}
	if d.more.Short != nil && d.more.AtLeast < d.atLeast {
		return usagef("--short asks %g of short records, want --at-least, %g, or more", d.more.AtLeast, d.atLeast)
	}
	if d.why != "" && kindOf(d.why) != "csv" && kindOf(d.why) != "jsonl" {
		return usagef("--why is %q, want a name that ends in .csv or .jsonl", d.why)
	}
	for _, other := range append([]string{d.out}, inputs...) {
		if d.why != "" && sameFile(d.why, other) {
			return usagef("--why is %s, which the records are in", d.why)
		}
	}
	// What is written last is asked for first: reading may take minutes.
	for flag, out := range map[string]string{"--output": d.out, "--why": d.why} {
		if out == "" || out == "-" {
			continue
		}
		if info, err := os.Stat(out); err == nil && info.IsDir() {
			return usagef("%s is %s, which is a folder", flag, out)
		}
		if _, err := os.Stat(filepath.Dir(out)); err != nil {
			return usagef("%s is %s: %w", flag, out, err)
		}
	}
	f, done, err := openAll(cmd.Context(), inputs, d.options)
	defer done()
	if err != nil {
		return err
	}
	if f.copy != nil && d.out == "-" {
		return usagef("--output is missing: this format cannot be written to the standard output")
	}
	d.time = f.time
	if err := d.choose(f, cmd.ErrOrStderr()); err != nil {
		return err
	}
	if d.sketches, err = os.CreateTemp("", "alike-*"); err != nil {
		return err
	}
	defer os.Remove(d.sketches.Name())
	defer d.sketches.Close()
	if d.finder, err = cluster.New(cluster.Options{
		Verify: d.compare, Resemblance: d.atLeast, FeatureLimit: featureLimit, Linkage: cluster.Single,
	}); err != nil {
		return err
	}
	defer d.finder.Close()
	if err := d.sketch(cmd.Context(), f); err != nil {
		return err
	}
	report, err := d.decide(cmd.Context())
	if err != nil {
		return err
	}
	if err := d.write(cmd.Context(), f, cmd.OutOrStdout()); err != nil {
		return err
	}
	if d.why != "" {
		if err := d.explain(f); err != nil {
			return err
		}
	}
	d.summary(cmd.ErrOrStderr(), report, f.unread)
	return nil
}

// choose sets the profile and the threshold, after a look at the first records unless the caller gave a profile.
func (d *dedup) choose(f *format, log io.Writer) (err error) {
	if d.profile == "" {
		s, err := f.open()
		if err != nil {
			return err
		}
		defer s.Close()
		var texts []string
		sample := sampled
		if f.sample > 0 {
			sample = f.sample
		}
		broken := 0
		for len(texts) < sample {
			r, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			if r.document == nil {
				if r.document, err = f.document(r.raw); err != nil {
					return fmt.Errorf("%s: %w", f.place(len(texts)), err)
				}
			}
			texts = append(texts, string(r.document))
			if !utf8.Valid(r.document) {
				broken++
			}
		}
		if broken > 1 && broken > len(texts)/100 && !d.quiet && !d.json {
			fmt.Fprintf(log, "%d of the first %d documents are not UTF-8; iconv converts other encodings\n", broken, len(texts))
		}
		var reason string
		if d.profile, reason = sketch.Look(texts); !d.quiet && !d.json { // the summary has it
			fmt.Fprintf(log, "profile %s: %s\n", d.profile, reason)
		}
	}
	if d.settings, err = sketch.ParseProfile(d.profile); err != nil {
		return usageError{err}
	}
	if d.settings.K == 0 {
		return usagef("the profile %s has no features", d.profile)
	}
	if d.settings.Slots() && d.settings.Bits == 64 {
		d.settings.Bits = d.settings.StoredBits()
	}
	return nil
}

// batch is some records on their way through a sketching goroutine.
type batch struct {
	records  []record
	sketches [][]byte
	shingles []int64
	features [][]int64
	err      error
	done     chan struct{}
}

// sketch reads all records, sketches them on every processor, and stores the sketches in their order.
func (d *dedup) sketch(ctx context.Context, f *format) error {
	s, err := f.open()
	if err != nil {
		return err
	}
	defer s.Close()
	workers := runtime.GOMAXPROCS(0)
	work, order := make(chan *batch), make(chan *batch, 4*workers)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for range workers {
		sketcher, err := sketch.NewSketcher(d.settings)
		if err != nil {
			return err
		}
		all.Go(func() {
			for b := range work {
				b.sketch(f, sketcher)
				close(b.done)
			}
		})
	}
	var failure error
	all.Go(func() {
		defer close(order)
		defer close(work)
		failure = readBatches(ctx, s, work, order)
	})
	err = d.store(order, s, f.size)
	cancel()
	for range order { // a reader that waits
	}
	all.Wait()
	if broken := (unreadable{}); errors.As(err, &broken) { // the reader has ended, so the records are counted
		return fmt.Errorf("%s: %w", f.place(len(d.ends)), broken.error)
	}
	return errors.Join(err, failure)
}

// unreadable is the error of the record after those that are stored.
type unreadable struct{ error }

func readBatches(ctx context.Context, s source, work, order chan<- *batch) error {
	for {
		b := &batch{done: make(chan struct{})}
		var err error
		for size := 0; len(b.records) < 256 && size < 1<<20; {
			var r record
			if r, err = s.Next(); err != nil {
				break
			}
			b.records = append(b.records, r)
			size += len(r.raw) + len(r.document)
		}
		for _, to := range []chan<- *batch{order, work} {
			select {
			case to <- b:
			case <-ctx.Done():
				close(b.done)
				return ctx.Err()
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (b *batch) sketch(f *format, s *sketch.Sketcher) {
	var features []sketch.Feature
	b.shingles = make([]int64, len(b.records))
	for i, r := range b.records {
		if r.document == nil {
			if r.document, b.err = f.document(r.raw); b.err != nil {
				return
			}
		}
		b.records[i] = record{document: r.document}
		s.Document(r.document)
		if s.Empty() {
			b.sketches, b.features = append(b.sketches, nil), append(b.features, nil)
			continue
		}
		b.sketches, b.shingles[i] = append(b.sketches, s.AppendSketch(nil)), s.Shingles()
		features = s.AppendFeatures(features[:0])
		list := make([]int64, 0, len(features))
		for _, x := range features {
			list = append(list, x.Value)
		}
		b.features = append(b.features, list)
	}
}

// store takes the batches in order.
func (d *dedup) store(order <-chan *batch, s source, size int64) error {
	w := bufio.NewWriterSize(d.sketches, 1<<20)
	bar := d.bar(size, "reading")
	defer bar.Finish()
	var end int64
	for b := range order {
		<-b.done
		for i, blob := range b.sketches {
			if _, err := w.Write(blob); err != nil {
				return err
			}
			end += int64(len(blob))
			if err := d.finder.Add(uint64(len(d.ends)), b.features[i]); err != nil {
				return err
			}
			d.ends = append(d.ends, end)
			if d.more.Short != nil {
				d.short = append(d.short, b.shingles[i] < d.more.Below)
			}
			if d.keep == "longest" {
				d.lengths = append(d.lengths, int32(min(len(b.records[i].document), 1<<31-1)))
			}
		}
		if b.err != nil {
			return unreadable{b.err}
		}
		bar.Set64(min(s.Offset(), size))
	}
	return w.Flush()
}

func (d *dedup) bar(size int64, what string) *progressbar.ProgressBar {
	if d.quiet || size == 0 || !term.IsTerminal(int(os.Stderr.Fd())) {
		return progressbar.DefaultSilent(size)
	}
	return progressbar.NewOptions64(size, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(what),
		progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100e6))
}

func (d *dedup) read(i uint64) ([]byte, error) {
	var start int64
	if i > 0 {
		start = d.ends[i-1]
	}
	b := make([]byte, d.ends[i]-start)
	_, err := d.sketches.ReadAt(b, start)
	return b, err
}

func (d *dedup) compare(x, y uint64) (float64, error) {
	a, err := d.read(x)
	if err != nil {
		return 0, err
	}
	b, err := d.read(y)
	if err != nil {
		return 0, err
	}
	r, err := sketch.Resemblance(a, b)
	if d.more.Short != nil && (d.short[x] || d.short[y]) && r < d.more.AtLeast {
		return 0, err
	}
	return r, err
}

// decide chooses the records to keep.
func (d *dedup) decide(ctx context.Context) (cluster.Report, error) {
	n := len(d.ends)
	linkage := cluster.First
	order := make([]int32, n) // the records as they are preferred
	for i := range order {
		order[i] = int32(i)
	}
	switch d.keep {
	case "popular":
		linkage = cluster.Popular
	case "oldest", "newest":
		switch {
		case d.time != nil && d.keep == "newest":
			slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(d.time(int(y)), d.time(int(x))) })
		case d.time != nil:
			slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(d.time(int(x)), d.time(int(y))) })
		case d.keep == "newest":
			slices.Reverse(order)
		}
	case "last":
		slices.Reverse(order)
	case "longest":
		slices.SortStableFunc(order, func(x, y int32) int { return int(d.lengths[y]) - int(d.lengths[x]) })
	}
	rank := make([]int32, n)
	for r, i := range order {
		rank[i] = int32(r)
	}
	linker, err := cluster.NewLinker(cluster.LinkerOptions{Documents: n, Linkage: linkage})
	if err != nil {
		return cluster.Report{}, err
	}
	defer linker.Close()
	report, err := d.finder.Pairs(ctx, func(p cluster.Pair) error {
		return linker.Pair(int(rank[p.A]), int(rank[p.B]), p.Resemblance)
	})
	if err != nil {
		return report, err
	}
	d.instead, d.resembles = make([]int32, n), make([]float32, n)
	for i := range d.instead {
		d.instead[i] = -1
	}
	return report, linker.Keep(ctx, func(i, kept int, resemblance float64) error {
		d.instead[order[i]], d.resembles[order[i]] = order[kept], float32(resemblance)
		return nil
	})
}

func (d *dedup) kept(i int) bool { return i < len(d.instead) && d.instead[i] < 0 }

func (d *dedup) write(ctx context.Context, f *format, stdout io.Writer) error {
	if f.copy != nil {
		return f.copy(ctx, d.out, d.kept)
	}
	if d.out == "-" {
		w := bufio.NewWriterSize(stdout, 1<<20)
		if err := d.copyRaw(ctx, f, w); err != nil {
			return err
		}
		return w.Flush()
	}
	return report.WriteFile(d.out, func(w io.Writer) error { return d.copyRaw(ctx, f, w) })
}

func (d *dedup) copyRaw(ctx context.Context, f *format, w io.Writer) error {
	s, err := f.open()
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := w.Write(f.header); err != nil {
		return err
	}
	for i := 0; ; i++ {
		r, err := s.Next()
		if err == io.EOF && f.unchanged != nil {
			return f.unchanged()
		}
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if d.kept(i) {
			if _, err := w.Write(r.raw); err != nil {
				return err
			}
		}
	}
}

// explain writes the reason why each record was left out.
func (d *dedup) explain(f *format) error {
	names := []string{"record", "kept", "resemblance"}
	return report.WriteFile(d.why, func(w io.Writer) error {
		table := csv.NewWriter(w)
		asCSV := kindOf(d.why) == "csv"
		if asCSV {
			if err := table.Write(names); err != nil {
				return err
			}
		}
		for i, kept := range d.instead {
			if kept < 0 {
				continue
			}
			values := []any{f.name(i), f.name(int(kept)), float64(int(d.resembles[i]*1000+0.5)) / 1000}
			if asCSV {
				if err := table.Write([]string{fmt.Sprint(values[0]), fmt.Sprint(values[1]), fmt.Sprint(values[2])}); err != nil {
					return err
				}
				continue
			}
			b, err := object(names, values)
			if err == nil {
				_, err = w.Write(append(b, '\n'))
			}
			if err != nil {
				return err
			}
		}
		table.Flush()
		return table.Error()
	})
}

func (d *dedup) summary(w io.Writer, r cluster.Report, unread map[string]string) {
	if d.quiet {
		return
	}
	out := 0
	for _, kept := range d.instead {
		if kept >= 0 {
			out++
		}
	}
	if d.json {
		_ = d.command.sheet(w, []string{"records", "kept", "left_out", "at_least", "profile", "hot_features", "unread"}).
			row([]any{len(d.ends), len(d.ends) - out, out, d.atLeast, d.settings.String(), r.HotCount, len(unread)}) // as of the text, no error of it is an error of the work
		return
	}
	paths := slices.Sorted(maps.Keys(unread))
	for i, path := range paths {
		if i == shownUnread {
			fmt.Fprintf(w, "and %d more without a text that can be read, which are kept\n", len(paths)-i)
			break
		}
		fmt.Fprintf(w, "kept unread: %s\n", cell(unread[path]))
	}
	from := fmt.Sprintf("resemblance from %.4g", d.atLeast)
	if d.more.Short != nil {
		from += fmt.Sprintf(", of short records from %.4g", d.more.AtLeast)
	}
	records := "records"
	if len(d.ends) == 1 {
		records = "record"
	}
	fmt.Fprintf(w, "%d %s, %d kept, %d left out (%s)\n", len(d.ends), records, len(d.ends)-out, out, from)
	if r.HotCount > 0 {
		fmt.Fprintf(w, "%d features are shared by more than %d records: some pairs among these were not compared\n", r.HotCount, featureLimit)
	}
}

// sameFile tells whether two names are those of one file.
func sameFile(a, b string) bool {
	if a == "-" || b == "-" {
		return false
	}
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || err == nil && err2 == nil && os.SameFile(x, y)
}
