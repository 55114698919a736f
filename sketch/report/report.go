// Package report describes the attachments of a database: their progress, the pairs
// that their filters find, the clusters, and the pairs that wait for a person. It gives
// numbers, and an HTML page in one file.
//
// Each engine has a Source of its own, which reads a side table once, in the order of its
// keys, into a temporary file (see spool). The same code computes everything from that
// file, so the same documents give the same numbers in both engines.
package report

import (
	"context"
	"fmt"
	"time"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/extract"
	"github.com/alike-sql/alike/sketch/verify"
)

// A Config sets what a report shows. The zero value is a good choice.
type Config struct {
	Table    string // one attachment alone, by its name; all of them unless given
	Clusters int    // clusters shown with their texts. Defaults to 100
	Members  int    // rows shown of each. Defaults to 6
	// Progress is called with the current step and its progress; of is 0 when the
	// total is unknown. It may be nil.
	Progress func(what string, done, of int64)
}

// Limits of the numbers in a Config.
const (
	MaxClusters = 10_000
	MaxMembers  = 100
)

const (
	listedRest  = 500 // clusters without texts
	listedKeys  = 50  // of a cluster
	listedPairs = 20  // that wait for a verdict
	listedHot   = 10
	hotRows     = 10  // the number of rows that makes a feature hot, as in alike.hot
	sampledRows = 200 // rows for which the range around their similarity index is scanned
	bands       = 20  // of resemblance
	bandPairs   = 200 // of each that are measured exactly
)

// A row can be in hundreds of pairs. A report reads the sketches of about readPairs pairs, and
// of at least readPartners pairs of each row within a cluster.
const (
	readPairs    = 1_000_000
	readPartners = 4
)

func (c *Config) setDefaults() error {
	if c.Clusters == 0 {
		c.Clusters = 100
	}
	if c.Members == 0 {
		c.Members = 6
	}
	if c.Progress == nil {
		c.Progress = func(string, int64, int64) {}
	}
	if c.Clusters < 0 || c.Clusters > MaxClusters {
		return fmt.Errorf("report: %d clusters, want 1 to %d", c.Clusters, MaxClusters)
	}
	if c.Members < 2 || c.Members > MaxMembers {
		return fmt.Errorf("report: %d members, want 2 to %d", c.Members, MaxMembers)
	}
	return nil
}

// A Report is what the page shows.
type Report struct {
	Database    string     `json:"database"`
	Engine      string     `json:"engine"`
	Made        time.Time  `json:"made"`
	Attachments []*Section `json:"attachments"`
}

// A Section describes one attachment.
type Section struct {
	Name    string        `json:"name"`
	Table   string        `json:"table"`
	Column  string        `json:"column"`
	Profile string        `json:"profile"`
	Mode    string        `json:"mode"`
	Policy  string        `json:"policy"`
	AtLeast float64       `json:"at_least"`
	Short   *verify.Short `json:"short,omitempty"`  // the higher threshold of pairs with a short text
	Oldest  *time.Time    `json:"oldest,omitempty"` // of the rows that wait
	Note    string        `json:"note,omitempty"`
	// Rows of the table; -1 when the reader may not count them.
	Rows     int64 `json:"rows"`
	Sketched int64 `json:"sketched"`
	Pending  int64 `json:"pending"`
	Failed   int64 `json:"failed"`
	Empty    int64 `json:"empty"` // sketched rows without any token, alike to nothing
	Other    int64 `json:"other"` // rows under a profile that is being replaced, which are left out

	Failures   []Failure  `json:"failures,omitempty"`
	K          int        `json:"k"`
	S          int        `json:"s"`
	R          int        `json:"r"`
	Candidates Candidates `json:"candidates"`
	Measured   Measured   `json:"measured"`
	Clusters   Clusters   `json:"clusters"`
	Waiting    Waiting    `json:"waiting"`
	Hot        []Hot      `json:"hot,omitempty"`
	HotCount   int        `json:"hot_count"` // sets of hot features, the hottest of which Hot has
	Indexes    []Index    `json:"similarity_indexes,omitempty"`
	Advice     *Advice    `json:"advice,omitempty"`
	Problems   []string   `json:"problems,omitempty"` // what the page cannot show, and why

	clustersSQL string // the statement that lists all clusters
}

// A Failure is a row that could not be sketched.
type Failure struct {
	Key     string `json:"key"`
	Message string `json:"message"`
}

// Make reads a database and closes it.
func Make(ctx context.Context, src Source, c Config) (*Report, error) {
	defer src.Close()
	if err := c.setDefaults(); err != nil {
		return nil, err
	}
	attachments, err := src.Attachments(ctx)
	if err != nil {
		return nil, err
	}
	extractor, err := extract.New(extract.Config{Timeout: 10 * time.Second, Output: MaxDocument})
	if err != nil {
		return nil, err
	}
	r := &Report{Engine: src.Engine(), Database: src.Name(), Made: time.Now().Truncate(time.Second)}
	for _, a := range attachments {
		if c.Table != "" && a.Section.Name != c.Table && a.Section.Table != c.Table {
			continue
		}
		a.Section.clustersSQL = src.Clusters(a)
		r.Attachments = append(r.Attachments, a.Section)
		m := maker{src: src, a: a, config: c, extractor: extractor, out: a.Section, readPairs: readPairs}
		if err := m.make(ctx); err != nil {
			return nil, fmt.Errorf("report: %s: %w", a.Section.Name, err)
		}
	}
	if c.Table != "" && len(r.Attachments) == 0 {
		return nil, fmt.Errorf("report: nothing called %q is attached", c.Table)
	}
	return r, nil
}

// A maker fills in one section.
type maker struct {
	src       Source
	a         *Attachment
	config    Config
	extractor *extract.Extractor
	out       *Section
	spool     *spool
	verdicts  verdicts
	readPairs int64         // the most pairs whose sketches are read
	atMost    int64         // pairs, from how many rows share each feature
	hottest   []*hotFeature // of them
	problems  map[string]bool
}

func (m *maker) make(ctx context.Context) error {
	p := m.a.Profile
	m.out.K, m.out.S, m.out.R = p.K, p.S, p.R
	m.problems = map[string]bool{}
	if m.a.Broken != "" {
		m.problem(m.a.Broken)
		return nil
	}
	var err error
	if m.spool, err = newSpool(p.K, len(m.a.Variants)); err != nil {
		return err
	}
	defer m.spool.close()
	if err := m.read(ctx); err != nil {
		return err
	}
	if m.out.Failures, err = m.src.Failures(ctx, m.a); err != nil {
		return err
	}
	if err := m.readVerdicts(ctx); err != nil {
		return err
	}
	if err := m.count(); err != nil {
		return err
	}
	found, err := m.pairs(ctx)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, *findings) error{m.measure, m.clusters, m.waiting, m.hot, m.indexes, m.advice} {
		if err := step(ctx, found); err != nil {
			return err
		}
	}
	return nil
}

// problem notes what the page cannot show.
func (m *maker) problem(what string) {
	if !m.problems[what] && len(m.problems) < 5 {
		m.problems[what] = true
		m.out.Problems = append(m.out.Problems, what)
	}
}

// reads tells whether a stored sketch is one of the profile.
func (m *maker) reads(stored []byte) bool {
	p, err := sketch.ProfileOf(stored)
	p.Tokens = m.a.Profile.Tokens // of another build it is stale
	return err == nil && p == m.a.Profile && sketch.Check(stored) == nil
}

// read takes the side table into the spool.
func (m *maker) read(ctx context.Context) error {
	n := int64(0)
	err := m.src.Rows(ctx, m.a, func(r *Row) error {
		if n++; n%1000 == 0 {
			m.config.Progress("reading "+m.out.Name, n, m.out.Sketched)
		}
		if r.Sketch == nil && r.Shingles > 0 || r.Sketch != nil && !m.reads(r.Sketch) {
			m.problem("some sketches are damaged, and the page leaves their rows out; a refresh sketches them again")
			return nil
		}
		if r.Sketch == nil {
			m.out.Empty++
		}
		return m.spool.add(r)
	})
	if err != nil {
		return err
	}
	m.out.Other = max(0, m.out.Sketched-n)
	return m.spool.finish()
}
