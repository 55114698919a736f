package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/queries"
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
		if err := rows.Scan(&a.id, &a.name, &a.replaces, &missing, &a.keys, &a.profileID, &profile, &a.tokens, &variants, &a.policy, &a.atLeast, &a.matches, &a.verify, &a.mode, &a.distributed,
			&extract, &a.indexed, &a.problem, &a.clustered, &a.contains, &a.fragments); err != nil {
			return nil, err
		}
		byID[a.id] = &a
		if missing != nil {
			a.broken = errors.New(*missing)
		} else {
			a.broken = a.resolve(profile, variants, extract)
		}
	}
	return byID, rows.Err()
}
