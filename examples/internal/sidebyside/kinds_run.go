package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext"
)

// A kindResult is what was measured on a collection.
type kindResult struct {
	Name, About string
	Rows        int
	Median      int // characters
	Same        int // pairs that a person calls the same
	Versions    int // pairs of one item
	Commit      string
	Chosen      string // by attach
	AtLeast     float64
	Profile     string
	Bytes       float64  `json:",omitempty"` // of a row, beside the text
	Held        *float64 // the share of the answers whose bounds contain the exact resemblance
	Answers     map[string]*kindAnswers
	Curve       []kindPoint `json:",omitempty"` // Alike under other thresholds
}

// A kindPoint is what Alike finds under a threshold, with the filter that attach chooses for it.
type kindPoint struct {
	AtLeast, Recall float64
	True            *float64
	Pairs           int
}

// kindThresholds are those of the curve.
var kindThresholds = []float64{0.4, 0.45, 0.5, 0.55, 0.6, 0.7}

// kindAnswers are what the answers of a contender are worth.
type kindAnswers struct {
	Version  string `json:",omitempty"`
	Recall   float64
	Versions *float64 `json:",omitempty"` // recall of pairs of one item
	True     *float64 `json:",omitempty"` // the share of the answers that are truly alike
	Pairs    int      // answers
	Within   *float64 `json:",omitempty"` // the share of estimates within 0.1 of the exact resemblance
	Fill     float64  // seconds a row
	Question float64  // seconds
}

// kindSample is how many answers are compared exactly, and kindPatience how long a
// contender is asked.
const (
	kindSample   = 2000
	kindPatience = 30 * time.Second
)

// runKinds measures collections by name, or all.
func runKinds(ctx context.Context, names string, rows int, out, module string) error {
	results, err := readKinds(out)
	if err != nil {
		return err
	}
	for _, s := range kindSources {
		if names != "all" && !slices.Contains(strings.Split(names, ","), s.name) {
			continue
		}
		began := time.Now()
		list, err := s.rows()
		if err != nil {
			return err
		}
		r, err := measureKind(ctx, s, list[:min(rows, len(list))], module)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		r.Commit = describe(module)
		log.Printf("%s: %d rows in %s, %s", s.name, r.Rows, time.Since(began).Round(time.Second), r.line())
		results = append(slices.DeleteFunc(results, func(old *kindResult) bool { return old.Name == s.name }), r)
		if err := writeKinds(out, results); err != nil {
			return err
		}
	}
	return writeKinds(out, results)
}

func (r *kindResult) line() string {
	s := fmt.Sprintf("%d the same, %s:", r.Same, r.Chosen)
	for _, name := range kindContenders {
		if a := r.Answers[name]; a != nil {
			s += fmt.Sprintf(" %s %.3f (%s of %d true, %.0f and %.0f µs)", name, a.Recall, optional(a.True), a.Pairs, 1e6*a.Fill, 1e6*a.Question)
		}
	}
	return s
}

var kindContenders = []string{"alike", "pg_trgm", "datasketch", "rensa", "gaoya"}

func optional(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *x)
}

// A kindJudge tells what answers are worth.
type kindJudge struct {
	read  []*foldedText
	same  [][2]int
	items [][2]int
}

func newKindJudge(rows []kindRow) *kindJudge {
	j := &kindJudge{}
	byItem := map[string][]int{}
	for i, r := range rows {
		j.read = append(j.read, newFoldedText(r.reads))
		if r.item != "" {
			for _, other := range byItem[r.item] {
				j.items = append(j.items, [2]int{other, i})
			}
			byItem[r.item] = append(byItem[r.item], i)
		}
	}
	j.same = samePairs(j.read)
	return j
}

// judge completes what is measured of answers.
func (j *kindJudge) judge(a *kindAnswers, pairs [][2]int) {
	answered := map[[2]int]bool{}
	for _, p := range pairs {
		answered[[2]int{min(p[0], p[1]), max(p[0], p[1])}] = true
	}
	found := func(wanted [][2]int) float64 {
		n := 0
		for _, p := range wanted {
			if answered[p] {
				n++
			}
		}
		return ratio(n, len(wanted))
	}
	a.Pairs, a.Recall = len(pairs), found(j.same)
	if len(j.items) > 0 {
		share := found(j.items)
		a.Versions = &share
	}
	if sample := sampled(pairs); len(sample) > 0 {
		n := 0
		for _, p := range sample {
			if newRatioOf(j.read[p[0]]).to(j.read[p[1]]) >= trueRatio {
				n++
			}
		}
		share := ratio(n, len(sample))
		a.True = &share
	}
}

// sampled is a sample of a list, the same each time.
func sampled[T any](list []T) []T {
	list = slices.Clone(list)
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(len(list), kindSample)]
}

func measureKind(ctx context.Context, s kindSource, rows []kindRow, module string) (*kindResult, error) {
	dir, err := os.MkdirTemp("", "kinds")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // a PostgreSQL server runs as somebody else
		return nil, err
	}
	j := newKindJudge(rows)
	var lengths []int
	var lines bytes.Buffer
	for _, r := range rows {
		lengths = append(lengths, len([]rune(r.text)))
		b, err := json.Marshal(r.text)
		if err != nil {
			return nil, err
		}
		lines.Write(append(b, '\n'))
	}
	slices.Sort(lengths)
	r := &kindResult{Name: s.name, About: s.about, Rows: len(rows), Median: lengths[len(lengths)/2], Same: len(j.same), Versions: len(j.items), Answers: map[string]*kindAnswers{}}
	if err := r.alike(rows, j, filepath.Join(dir, "alike.db")); err != nil {
		return nil, err
	}
	if err := r.trigrams(ctx, rows, j, dir); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "texts.jsonl")
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		return nil, err
	}
	python, err := cached("venv", "bin", "python")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, python, filepath.Join(module, "peers", "kinds.py"), file)
	cmd.Env = append(os.Environ(), "RAYON_NUM_THREADS=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var peers map[string]struct {
		Version        string
		Fill, Question float64
		Within         *float64
		Pairs          [][2]int
	}
	if err := json.Unmarshal(out, &peers); err != nil {
		return nil, err
	}
	for name, p := range peers {
		a := &kindAnswers{Version: p.Version, Within: p.Within, Fill: p.Fill / float64(len(rows)), Question: p.Question}
		j.judge(a, p.Pairs)
		r.Answers[name] = a
	}
	return r, nil
}

// alike attaches without a profile and asks for all pairs, and of 200 texts for the rows
// that resemble them.
func (r *kindResult) alike(rows []kindRow, j *kindJudge, file string) error {
	if err := sqlext.Auto(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "file:"+file+"?_synchronous=off")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := insertKind(db, rows); err != nil {
		return err
	}
	var n int
	var before, after float64
	const size = "select (p.page_count - f.freelist_count) * s.page_size from pragma_page_count p, pragma_freelist_count f, pragma_page_size s"
	if err := db.QueryRow(size).Scan(&before); err != nil {
		return err
	}
	began := time.Now()
	if err := db.QueryRow("select alike_attach('docs', 'body')").Scan(&n); err != nil {
		return err
	}
	a := &kindAnswers{Version: sketch.Version, Fill: time.Since(began).Seconds() / float64(len(rows))}
	if err := db.QueryRow(size).Scan(&after); err != nil {
		return err
	}
	r.Bytes = (after - before) / float64(len(rows))
	if err := db.QueryRow("select chosen, at_least, profile from alike_status()").Scan(&r.Chosen, &r.AtLeast, &r.Profile); err != nil {
		return err
	}
	r.Chosen, _, _ = strings.Cut(r.Chosen, ":")
	if a.Question, err = asked(rows, func(text string) error {
		list, err := db.Query("select key from alike_rows_like('docs', ?)", text)
		if err != nil {
			return err
		}
		defer list.Close()
		for list.Next() {
		}
		return list.Err()
	}); err != nil {
		return err
	}
	list, err := alikePairs(db)
	if err != nil {
		return err
	}
	j.judge(a, pairsOf(list))
	if err := r.compareExact(a, rows, sampled(list)); err != nil {
		return err
	}
	r.Answers["alike"] = a
	for _, atLeast := range kindThresholds {
		if _, err := db.Exec("select alike_attach('docs', 'body', json_object('profile', ?, 'at_least', ?))", r.Chosen, atLeast); err != nil {
			return err
		}
		list, err := alikePairs(db)
		if err != nil {
			return err
		}
		var point kindAnswers
		j.judge(&point, pairsOf(list))
		r.Curve = append(r.Curve, kindPoint{AtLeast: atLeast, Recall: point.Recall, True: point.True, Pairs: point.Pairs})
	}
	return nil
}

func pairsOf(list []kindPair) [][2]int {
	pairs := make([][2]int, len(list))
	for i, x := range list {
		pairs[i] = x.pair
	}
	return pairs
}

func insertKind(db *sql.DB, rows []kindRow) error {
	if _, err := db.Exec("create table docs (id integer primary key, body text)"); err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i, row := range rows {
		if _, err := tx.Exec("insert into docs values (?, ?)", i, row.text); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// kindPair is a pair that Alike answers, with its estimate.
type kindPair struct {
	pair                   [2]int
	resemblance, low, high float64
}

func alikePairs(db *sql.DB) (list []kindPair, err error) {
	answers, err := db.Query("select key, other, resemblance, low, high from alike_pairs('docs') order by key, other")
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	for answers.Next() {
		var x kindPair
		if err := answers.Scan(&x.pair[0], &x.pair[1], &x.resemblance, &x.low, &x.high); err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, answers.Err()
}

// compareExact counts the estimates that are near the exact resemblance, and the bounds that hold it.
func (r *kindResult) compareExact(a *kindAnswers, rows []kindRow, sample []kindPair) error {
	p, err := sketch.ParseProfile(r.Profile)
	if err != nil {
		return err
	}
	within, held := 0, 0
	for _, x := range sample {
		exact, _, err := sketch.ExactResemblance(p, []byte(rows[x.pair[0]].text), []byte(rows[x.pair[1]].text))
		if err != nil {
			return err
		}
		if math.Abs(exact-x.resemblance) <= 0.1 {
			within++
		}
		if x.low-1e-9 <= exact && exact <= x.high+1e-9 {
			held++
		}
	}
	if len(sample) > 0 {
		w, h := ratio(within, len(sample)), ratio(held, len(sample))
		a.Within, r.Held = &w, &h
	}
	return nil
}

// asked is the mean time of a question for each of 200 texts, or of those that are asked
// within kindPatience.
func asked(rows []kindRow, ask func(text string) error) (float64, error) {
	list := sampled(rows)
	began, n := time.Now(), 0
	for n < min(len(list), 200) && time.Since(began) < kindPatience {
		if err := ask(list[n].text); err != nil {
			return 0, err
		}
		n++
	}
	return time.Since(began).Seconds() / float64(n), nil
}

// trigrams asks pg_trgm at its threshold 0.5: for the pairs that a person calls the same
// each pair, or each of a sample, is compared, as a scan of all pairs would; the answers are
// those for 200 texts.
func (r *kindResult) trigrams(ctx context.Context, rows []kindRow, j *kindJudge, dir string) error {
	defer os.Setenv("TMPDIR", os.Getenv("TMPDIR"))
	os.Setenv("TMPDIR", dir) // where the server's data goes
	url, stop, err := startPostgres(ctx)
	if err != nil {
		return err
	}
	defer stop()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, "create extension pg_trgm; set pg_trgm.similarity_threshold = 0.5; create table docs (id integer primary key, body text)"); err != nil {
		return err
	}
	if _, err := c.CopyFrom(ctx, pgx.Identifier{"docs"}, []string{"id", "body"}, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) { return []any{i, strings.ReplaceAll(rows[i].text, "\x00", " ")}, nil })); err != nil {
		return err
	}
	began := time.Now()
	if _, err := c.Exec(ctx, "create index on docs using gin (body gin_trgm_ops); analyze docs"); err != nil {
		return err
	}
	a := &kindAnswers{Fill: time.Since(began).Seconds() / float64(len(rows))}
	if err := c.QueryRow(ctx, "select extversion from pg_extension where extname = 'pg_trgm'").Scan(&a.Version); err != nil {
		return err
	}
	numbers := map[string]int{}
	for i, row := range rows {
		numbers[row.text] = i
	}
	var pairs [][2]int
	if a.Question, err = asked(rows, func(text string) error {
		list, err := c.Query(ctx, "select id from docs where body % $1", text)
		if err != nil {
			return err
		}
		var other int
		_, err = pgx.ForEachRow(list, []any{&other}, func() error {
			if i := numbers[text]; i != other {
				pairs = append(pairs, [2]int{i, other})
			}
			return nil
		})
		return err
	}); err != nil {
		return err
	}
	j.judge(a, pairs)
	share := func(wanted [][2]int) (float64, error) {
		wanted = sampled(wanted)
		var left, right []int32
		for _, p := range wanted {
			left, right = append(left, int32(p[0])), append(right, int32(p[1]))
		}
		var found int
		err := c.QueryRow(ctx, "select count(*) filter (where similarity(a.body, b.body) >= 0.5) from unnest($1::int[], $2::int[]) as p(a, b) join docs a on a.id = p.a join docs b on b.id = p.b", left, right).Scan(&found)
		return ratio(found, len(wanted)), err
	}
	if a.Recall, err = share(j.same); err != nil {
		return err
	}
	if a.Versions != nil {
		if *a.Versions, err = share(j.items); err != nil {
			return err
		}
	}
	r.Answers["pg_trgm"] = a
	return nil
}
