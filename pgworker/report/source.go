package report

import (
	"context"
	"strings"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sketch/simindex"
)

// A Source is a database with attachments: Postgres or SQLite. It passes keys as text in a
// form of its own; keyText writes them for people.
type Source interface {
	engine() string
	name() string
	attachments(ctx context.Context) ([]*attachment, error)
	// rows gives the rows of the side table under the profile in use, in the
	// order of their keys. The row is reused.
	rows(ctx context.Context, a *attachment, each func(*row) error) error
	failures(ctx context.Context, a *attachment) ([]Failure, error)
	verdicts(ctx context.Context, a *attachment, each func(key, other string, duplicate bool)) error
	// recorded counts the pairs that a policy recorded and no person judged, and
	// returns those nearest to the limit.
	recorded(ctx context.Context, a *attachment, most int) (int64, [][2]string, error)
	documents(ctx context.Context, a *attachment, keys []string) ([]document, error)
	keyText(a *attachment, key string) string
	// mark returns the statement with which a person gives a verdict.
	mark(a *attachment, key, other, verdict string) string
	close()
}

// An attachment as a source found it.
type attachment struct {
	section  *Section
	profile  sketch.Profile
	variants []simindex.Variant
	media    string // media type of the documents; "" for plain text
	broken   string // the reason why nothing of it can be read
	keys     []string
	side     string // quoted, as the following
	match    string
	marks    string
	sql      any // data of the source's own
}

// parse reads the profile and the variants.
func (a *attachment) parse(variants []string) {
	var err error
	if a.profile, err = sketch.ParseProfile(a.section.Profile); err != nil {
		a.broken = err.Error()
		return
	}
	for _, name := range variants {
		v, err := simindex.Parse(name)
		if err != nil {
			a.broken = err.Error()
			return
		}
		a.variants = append(a.variants, v)
	}
}

// columns returns the columns of the side table that a report reads, behind the key.
func (a *attachment) columns(prefix string) string {
	list := aspect.Columns(a.profile.K, a.variants)
	return prefix + strings.Join(list, ", "+prefix)
}

// unjudged selects the recorded pairs (alias m) without a verdict.
func (a *attachment) unjudged() string {
	same := func(swapped bool) string {
		parts := make([]string, 0, 2*len(a.keys))
		for i := range a.keys {
			key, other := quote(a.keys[i]), quote(a.other(i))
			x, y := key, other
			if swapped {
				x, y = other, key
			}
			parts = append(parts, "j."+key+" = m."+x, "j."+other+" = m."+y)
		}
		return strings.Join(parts, " and ")
	}
	return " from " + a.match + " m where not exists (select 1 from " + a.marks + " j where " + same(false) + ")" +
		" and not exists (select 1 from " + a.marks + " j where " + same(true) + ")"
}

// other returns the column with part i of the other row's key.
func (a *attachment) other(i int) string {
	if len(a.keys) == 1 {
		return "other"
	}
	return "other_" + a.keys[i]
}

// quote writes an identifier as both engines do.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// maxDocument is the size in bytes up to which a report reads a document.
const maxDocument = 1 << 20

// A document is a text, or the reason why it is missing.
type document struct {
	bytes []byte
	size  int64
	media string
	why   string
}

// A row of a side table.
type row struct {
	key      string
	hash     int64
	shingles int64
	sketch   []byte
	features []nullable
	indexes  []nullable
}

type nullable struct {
	value int64
	ok    bool
}

// shared counts the features that two rows have in common.
func (r *row) shared(s *row) (n int) {
	for i, f := range r.features {
		if f.ok && s.features[i] == f {
			n++
		}
	}
	return n
}
