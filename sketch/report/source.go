package report

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sketch/simindex"
)

// A Source is a database with attachments. It passes keys as text in a form of its own;
// KeyText writes them for people.
type Source interface {
	Engine() string
	Name() string
	Attachments(ctx context.Context) ([]*Attachment, error)
	// Rows gives the rows of the side table under the profile in use, in the
	// order of their keys. The row is reused.
	Rows(ctx context.Context, a *Attachment, each func(*Row) error) error
	Failures(ctx context.Context, a *Attachment) ([]Failure, error)
	Verdicts(ctx context.Context, a *Attachment, each func(key, other string, duplicate bool)) error
	// Recorded counts the pairs that a policy recorded and no person judged, and
	// returns those nearest to the limit.
	Recorded(ctx context.Context, a *Attachment, limit int) (int64, [][2]string, error)
	Documents(ctx context.Context, a *Attachment, keys []string) ([]Document, error)
	KeyText(a *Attachment, key string) string
	// Mark returns the statement with which a person gives a verdict.
	Mark(a *Attachment, key, other, verdict string) string
	// Clusters returns the statement that lists all clusters.
	Clusters(a *Attachment) string
	Close()
}

// An Attachment as a source found it.
type Attachment struct {
	Section  *Section
	Profile  sketch.Profile
	Variants []simindex.Variant
	Media    string   // media type of the documents; "" for plain text
	Broken   string   // the reason why nothing of it can be read
	Keys     []string // the columns of the key
	Side     string   // the side table, quoted, as are the following
	Match    string
	Marks    string
	Own      any // what the source knows beside this
}

// Parse reads the profile of the section and the variants.
func (a *Attachment) Parse(variants []string) {
	var err error
	if a.Profile, err = sketch.ParseProfile(a.Section.Profile); err != nil {
		a.Broken = err.Error()
		return
	}
	for _, name := range variants {
		v, err := simindex.Parse(name)
		if err != nil {
			a.Broken = err.Error()
			return
		}
		a.Variants = append(a.Variants, v)
	}
}

// Columns returns the columns of the side table that a report reads, behind the key.
func (a *Attachment) Columns(prefix string) string {
	list := aspect.Columns(a.Profile.K, a.Variants)
	return prefix + strings.Join(list, ", "+prefix)
}

// Unjudged selects the recorded pairs (alias m) without a verdict.
func (a *Attachment) Unjudged() string {
	same := func(swapped bool) string {
		parts := make([]string, 0, 2*len(a.Keys))
		for i := range a.Keys {
			key, other := Quote(a.Keys[i]), Quote(a.Other(i))
			x, y := key, other
			if swapped {
				x, y = other, key
			}
			parts = append(parts, "j."+key+" = m."+x, "j."+other+" = m."+y)
		}
		return strings.Join(parts, " and ")
	}
	return " from " + a.Match + " m where not exists (select 1 from " + a.Marks + " j where " + same(false) + ")" +
		" and not exists (select 1 from " + a.Marks + " j where " + same(true) + ")"
}

// Other returns the column with part i of the other row's key.
func (a *Attachment) Other(i int) string {
	if len(a.Keys) == 1 {
		return "other"
	}
	return "other_" + a.Keys[i]
}

// Quote writes an identifier as both engines do.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Unseen tells the characters that a statement on the page escapes: invisible ones, and those that change the direction of
// writing.
func Unseen(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) }

// MaxDocument is the size in bytes up to which a report reads a document.
const MaxDocument = 1 << 20

// A Document is a text, or the reason why it is missing.
type Document struct {
	Bytes []byte
	Size  int64 // in bytes; -1 for NULL
	Media string
	Why   string
}

// A Row of a side table.
type Row struct {
	Key      string
	Hash     int64
	Shingles int64
	Sketch   []byte
	Features []Nullable
	Indexes  []Nullable
}

// A Nullable is a number of a row, or NULL.
type Nullable struct {
	Value int64
	OK    bool
}

// Scan reads a column of either engine into n.
func (n *Nullable) Scan(column any) error {
	switch v := column.(type) {
	case nil:
		*n = Nullable{}
	case int64:
		*n = Nullable{Value: v, OK: true}
	default:
		return fmt.Errorf("report: a column of the side table is %T, want a whole number", column)
	}
	return nil
}

// shared counts the features that two rows have in common.
func (r *Row) shared(s *Row) (n int) {
	for i, f := range r.Features {
		if f.OK && s.Features[i] == f {
			n++
		}
	}
	return n
}
