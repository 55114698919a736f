package report

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
)

// memory is a Source of rows that were sketched here.
type memory struct {
	Source
	list []Row
}

func (m *memory) Rows(_ context.Context, _ *Attachment, each func(*Row) error) error {
	for i := range m.list {
		if err := each(&m.list[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Failures(context.Context, *Attachment) ([]Failure, error) { return nil, nil }

func (m *memory) Verdicts(context.Context, *Attachment, func(string, string, bool)) error { return nil }

func (m *memory) Recorded(context.Context, *Attachment, int) (int64, [][2]string, error) {
	return 0, nil, nil
}

func (m *memory) Documents(_ context.Context, _ *Attachment, keys []string) ([]Document, error) {
	list := make([]Document, len(keys))
	for i, key := range keys {
		n, err := strconv.Atoi(key)
		if err != nil {
			return nil, err
		}
		list[i] = Document{Bytes: sentence(n)}
	}
	return list, nil
}

func (m *memory) KeyText(_ *Attachment, key string) string { return key }

func (m *memory) Clusters(*Attachment) string { return "" }

func (m *memory) Mark(*Attachment, string, string, string) string { return "" }

// sentence is the i-th of the template.
func sentence(i int) []byte {
	return fmt.Appendf(nil, "the number %d of the %d papers of case %d in room %d and shelf %d", i*7919%1000003, i*104729%1000033, i, i*31%997, i*17%89)
}

// crowd sketches n sentences of one template under a profile.
func crowd(t *testing.T, n int, settings string) (*memory, sketch.Profile) {
	p, err := sketch.ParseProfile(settings)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{}
	for i := range n {
		s.Reset()
		s.Document(sentence(i))
		r := Row{Key: fmt.Sprint(i), Hash: int64(i), Shingles: s.Shingles(), Sketch: s.AppendSketch(nil)}
		for _, f := range s.AppendFeatures(nil) {
			r.Features = append(r.Features, Nullable{int64(f.Value), true})
		}
		m.list = append(m.list, r)
	}
	return m, p
}

var crowdRows = flag.Int("rows", 5000, "rows of the crowd; make long has 100,000")

// Of rows of one template, which share features in hundreds, a report reads a bounded number
// of pairs, and its numbers are near those of all pairs.
func TestCrowd(t *testing.T) {
	made := func(n int, limit int64) *Section {
		src, p := crowd(t, n, "chars k=34 s=4 bits=4")
		m := maker{src: src, a: &Attachment{Profile: p}, out: &Section{Name: "crowd", AtLeast: p.AtLeast()}, readPairs: limit}
		if err := m.config.setDefaults(); err != nil {
			t.Fatal(err)
		}
		m.config.Clusters = 1
		if err := m.make(t.Context()); err != nil {
			t.Fatal(err)
		}
		return m.out
	}
	all, some := made(1000, 1<<40), made(1000, 20_000)
	if c := all.Candidates; c.Pairs < 100_000 || c.Read != c.Pairs || all.Clusters.Partners != 0 {
		t.Fatalf("of %d pairs %d were read and %d a row, want all", c.Pairs, c.Read, all.Clusters.Partners)
	}
	near := func(what string, got, want int64) {
		// Four standard errors, were the read pairs independent of each other.
		if spread := 4 * math.Sqrt(float64(want)*float64(all.Candidates.Pairs)/float64(some.Candidates.Read)); math.Abs(float64(got-want)) > spread+1 {
			t.Errorf("%s: %d estimated, want %d within %.0f", what, got, want, spread)
		}
	}
	if some.Candidates.Pairs != all.Candidates.Pairs {
		t.Errorf("%d pairs counted, want %d", some.Candidates.Pairs, all.Candidates.Pairs)
	}
	near("alike", some.Candidates.Alike, all.Candidates.Alike)
	for i, want := range all.Candidates.Bands {
		near(fmt.Sprintf("band %d", i), some.Candidates.Bands[i], want)
	}
	if got, want := some.Candidates.Rows, all.Candidates.Rows; got < want-want/100 || got > want {
		t.Errorf("%d rows are alike to another, want about %d", got, want)
	}
	if got, want := some.Clusters.Rows, all.Clusters.Rows; got < want-want/20 {
		t.Errorf("%d rows in clusters, want about %d", got, want)
	}

	n := *crowdRows
	limit := int64(10 * n)
	s := made(n, limit)
	t.Logf("%d rows: %d pairs, %d read, %d for clusters, %d a row", n, s.Candidates.Pairs, s.Candidates.Read, s.Clusters.Read, s.Clusters.Partners)
	if s.Candidates.Pairs < int64(100*n) || s.Candidates.Read < limit/10 || s.Candidates.Read > limit+limit/10 || s.Clusters.Partners != 10 || s.Clusters.Read > 5*limit {
		t.Errorf("of %d pairs %d were read, and %d for the clusters, %d a row, want about %d", s.Candidates.Pairs, s.Candidates.Read, s.Clusters.Read, s.Clusters.Partners, limit)
	}
	var page bytes.Buffer
	if err := (&Report{Attachments: []*Section{s}}).Write(&page); err != nil {
		t.Fatal(err)
	}
	for _, sentence := range []string{"estimated from the sketches of", "with the 10 that share most features",
		"Presets side by side", "tried on 300 texts", "<strong>short</strong> is chosen: the median length", "23 × 4: prose, paragraphs, short"} {
		if !strings.Contains(page.String(), sentence) {
			t.Errorf("the page does not say %q", sentence)
		}
	}
}
