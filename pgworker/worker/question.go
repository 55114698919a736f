package worker

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
)

// A Question is a document that is not in a table, as the database is asked
// about it: its whole sketch, for alike.gate, and its features and indexes.
type Question struct {
	Profile     string           `json:"profile"`
	ContentHash int64            `json:"content_hash"`
	Shingles    int64            `json:"shingles"`
	Sketch      []byte           `json:"sketch"`   // nil when the document has no token
	Features    []*int64         `json:"features"` // f1 and on; nil for a feature that it lacks
	Indexes     map[string]int64 `json:"si"`
}

// Query is a connection, a pool or a transaction.
type Query interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Ask sketches a document under the profile of an attached table, named as in
// SQL or by its attachment.
func Ask(ctx context.Context, db Query, table string, doc []byte) (*Question, error) {
	var profile string
	var variants []string
	var id int32
	if err := db.QueryRow(ctx, queries.AttachmentProfile, table).Scan(&profile, &variants, &id); err != nil {
		return nil, err
	}
	p, err := sketch.ParseProfile(profile)
	if err != nil {
		return nil, err
	}
	var b *sketch.Boilerplate
	if p.Without != 0 {
		var stored []byte
		if err := db.QueryRow(ctx, queries.Boilerplate, int64(p.Without)).Scan(&stored); err != nil {
			return nil, err
		}
		if b, err = sketch.ParseBoilerplate(stored); err != nil {
			return nil, err
		}
	}
	return newQuestion(p, variants, doc, b)
}

// NewQuestion sketches a document under a profile.
func NewQuestion(profile string, variants []string, doc []byte) (*Question, error) {
	p, err := sketch.ParseProfile(profile)
	if err != nil {
		return nil, err
	}
	return newQuestion(p, variants, doc, nil)
}

func newQuestion(p sketch.Profile, variants []string, doc []byte, b *sketch.Boilerplate) (*Question, error) {
	p.Bits = 64 // a gate makes features, which takes whole minima
	indexes, err := aspect.Parse(p, variants)
	if err != nil {
		return nil, err
	}
	c, err := aspect.NewWithout(p, indexes, b)
	if err != nil {
		return nil, err
	}
	row, err := c.Row(sketch.ContentHash(doc), doc)
	if err != nil {
		return nil, err
	}
	q := &Question{
		Profile: p.String(), ContentHash: row.ContentHash, Shingles: row.Shingles, Sketch: row.Sketch,
		Features: make([]*int64, p.K), Indexes: map[string]int64{},
	}
	for _, f := range row.Features {
		q.Features[f.Slot] = &f.Value
	}
	for i, name := range variants {
		if si := row.Indexes[i]; si.Valid {
			q.Indexes[name] = si.Value
		}
	}
	return q, nil
}
