package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/verify"
)

// catalog caches the attachments for a moment.
type catalog struct {
	mutex  sync.Mutex
	loaded time.Time
	byID   map[int32]*attachment
}

const catalogAge = time.Second

// forget makes the next look-up read the attachments again.
func (c *catalog) forget() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.loaded = time.Time{}
}

type querier interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}

type execer interface {
	Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
}

// get returns the attachments by number, read on q when they are not fresh.
func (c *catalog) get(ctx context.Context, q querier) (map[int32]*attachment, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if time.Since(c.loaded) < catalogAge {
		return c.byID, nil
	}
	byID, err := readAttachments(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, a := range byID {
		if a.broken == nil && a.tokens == nil {
			if err := a.begin(ctx, q); err != nil {
				return nil, err
			}
		}
		if a.broken == nil && a.elsewhere() {
			a.broken = otherBuildError(a.name)
		}
	}
	c.byID, c.loaded = byID, time.Now()
	return byID, nil
}

// find returns an attachment, nil when there is none. For a number that is not known yet it
// reads the attachments again.
func (c *catalog) find(ctx context.Context, q querier, id int32) (*attachment, error) {
	for range 2 {
		byID, err := c.get(ctx, q)
		if err != nil || byID[id] != nil {
			return byID[id], err
		}
		c.forget()
	}
	return nil, nil
}

// readAttachments returns the attachments by number.
func readAttachments(ctx context.Context, q querier) (map[int32]*attachment, error) {
	rows, err := q.Query(ctx, queries.Attachments)
	if err != nil {
		return nil, err
	}
	byID := map[int32]*attachment{}
	for rows.Next() {
		var a attachment
		var missing *string
		var profile string
		var variants []string
		var extract []byte
		var below *int64
		var shortAtLeast *float64
		if err := rows.Scan(&a.id, &a.name, &a.replaces, &missing, &a.keys, &a.profileID, &profile, &a.tokens, &variants, &a.policy, &a.atLeast, &a.matches, &a.verify, &below, &shortAtLeast, &a.mode, &a.distributed,
			&extract, &a.indexed, &a.problem, &a.superfeatures, &a.clustered, &a.contains, &a.minContainment, &a.fragments); err != nil {
			return nil, err
		}
		if below != nil && shortAtLeast != nil {
			a.short = &verify.Short{Below: *below, AtLeast: *shortAtLeast}
		}
		byID[a.id] = &a
		if missing != nil {
			a.broken = errors.New(*missing)
		} else {
			a.broken = a.resolve(profile, variants, extract)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, a := range byID {
		if a.broken == nil {
			if a.boilerplate, err = readBoilerplate(ctx, q, a.profile); err != nil {
				return nil, err
			}
			if a.boilerplate == nil && a.profile.Without != 0 {
				a.broken = fmt.Errorf("the list %08x of shingles that its profile leaves out is missing", a.profile.Without)
			}
		}
	}
	return byID, nil
}

// boilerplates are the lists that were read before, by their names, which tell their content.
var boilerplates sync.Map

// readBoilerplate returns the list of shingles that a profile leaves out, nil where it is not there.
func readBoilerplate(ctx context.Context, q querier, p sketch.Profile) (*sketch.Boilerplate, error) {
	if p.Without == 0 {
		return nil, nil
	}
	if known, ok := boilerplates.Load(p.Without); ok {
		return known.(*sketch.Boilerplate), nil
	}
	rows, err := q.Query(ctx, queries.Boilerplate, int64(p.Without))
	if err != nil {
		return nil, err
	}
	stored, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]byte])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b, err := sketch.ParseBoilerplate(stored)
	if err != nil || b.Fingerprint() != p.Without {
		return nil, err
	}
	boilerplates.Store(p.Without, b)
	return b, nil
}
