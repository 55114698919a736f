// Package worker keeps the side tables of Alike in PostgreSQL up to date: it
// takes checked-in rows from the queue, computes their sketches, and writes
// them in the transaction that takes them, so that a worker that is killed
// loses nothing and repeats nothing. Any number may run side by side.
//
//	w, err := worker.New(ctx, worker.Config{DatabaseURL: os.Getenv("DATABASE_URL")})
//	if err != nil { … }
//	err = w.Run(ctx) // until ctx is cancelled
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch/extract"
)

// A Worker is made by New.
type Worker struct {
	config    Config
	pool      *pgxpool.Pool
	extractor *extract.Extractor
	log       *slog.Logger
	catalog   catalog
	counters  counters
	intake    intake
	bell      bell          // rings when there is something to do
	asked     bell          // rings when there is a question
	worked    chan struct{} // there was something
}

// New checks the configuration, the address and the database's schema.
func New(ctx context.Context, config Config) (*Worker, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	extractor, err := extract.New(config.Extract)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	poolConfig, err := config.pool()
	if err != nil {
		return nil, fmt.Errorf("worker: database URL: %w", err)
	}
	if err := checkSession(ctx, poolConfig.ConnConfig); err != nil {
		return nil, fmt.Errorf("worker: connect: %w", err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	w := &Worker{config: config, pool: pool, extractor: extractor, log: config.Logger, worked: make(chan struct{}, 1)}
	w.intake.work = make(chan struct{}, requestWorkers)
	if err := w.checkDatabase(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("worker: %w", err)
	}
	return w, nil
}

// pool configures the connections.
func (c *Config) pool() (*pgxpool.Config, error) {
	pool, err := pgxpool.ParseConfig(c.DatabaseURL)
	if err != nil {
		return nil, err
	}
	// A lane writes on one connection while it reads on another. One listens, one
	// looks, two answer slow requests and questions, one merges parts, one is for health and
	// metrics.
	pool.MaxConns = int32(2*c.Lanes + c.Extractions + 6 + requestWorkers)
	pool.ConnConfig.RuntimeParams["application_name"] = "alike worker"
	pool.ConnConfig.RuntimeParams["standard_conforming_strings"] = "on" // pgx insists, and the role may have another
	// A server that is gone without a word is noticed after a minute.
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3}}
	pool.ConnConfig.DialFunc = dialer.DialContext
	// The other settings come by a statement: a pooler takes few at the start.
	pool.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, queries.WorkerSettings, c.StatementTimeout.Milliseconds(), c.LockTimeout.Milliseconds(), c.IdleTimeout.Milliseconds())
		if err == nil {
			_, err = conn.Exec(ctx, queries.Settings)
		}
		return err
	}
	return pool, nil
}

// checkDatabase connects, and refuses a superuser and a database without the schema.
func (w *Worker) checkDatabase(ctx context.Context) error {
	c, err := w.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer c.Release()
	if !w.config.AllowSuperuser {
		if err := checkRole(ctx, c.Conn()); err != nil {
			return err
		}
	}
	return w.checkSchema(ctx, c.Conn())
}

// schemaVersion is the migration whose schema this worker knows.
const schemaVersion = 38

// checkSchema refuses a database without the schema alike, or with a schema older than
// this worker. A newer one is that of an upgrade: its workers are replaced after it.
func (w *Worker) checkSchema(ctx context.Context, c *pgx.Conn) error {
	version := 0
	if _, err := c.Exec(ctx, "select 'alike.migration'::regproc"); err != nil && retryable(err) {
		return err
	} else if err == nil {
		if err := c.QueryRow(ctx, "select alike.migration()").Scan(&version); err != nil {
			return err
		}
	}
	switch {
	case version == 0:
		var barred bool
		if err := c.QueryRow(ctx, "select exists (select from pg_namespace where nspname = 'alike' and not has_schema_privilege(oid, 'usage'))").Scan(&barred); err != nil {
			return err
		}
		if barred {
			return fmt.Errorf("%s may not use the schema alike: it needs the role alike_worker with its rights, which a restore without privileges leaves out", c.Config().User)
		}
		return errors.New("the database has no schema alike, or one of a release before this worker's; pgworker migrate up makes it")
	case version < schemaVersion:
		return fmt.Errorf("the schema alike is that of migration %d, and this worker wants %d; pgworker migrate up brings it up to date", version, schemaVersion)
	case version > schemaVersion:
		w.log.Warn("the schema alike is of a newer release than this worker: replace the worker", "schema", version, "worker", schemaVersion)
	}
	return nil
}

// Close closes the connections. Run must have returned.
func (w *Worker) Close() { w.pool.Close() }

// Run works until ctx is cancelled, and then returns nil: the batch at hand is
// rolled back, and the next worker does it. A database that cannot be
// reached is waited for.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.tidy(ctx); err != nil && ctx.Err() == nil {
		w.log.Warn("maintenance failed, retrying", "error", err)
	}
	if err := w.checkOwners(ctx); err != nil && ctx.Err() == nil {
		w.log.Warn("no table to work for", "error", err)
	}
	var wait sync.WaitGroup
	for range w.config.Lanes {
		wait.Go(func() { w.lane(ctx) })
	}
	for range w.config.Extractions {
		wait.Go(func() { w.extraction(ctx) })
	}
	wait.Go(func() { w.repeat(ctx, "answering a request failed, retrying", &w.bell, w.answerSlow) })
	wait.Go(func() { w.repeat(ctx, "answering a question failed, retrying", &w.asked, w.answerQuestions) })
	wait.Go(func() { w.repeat(ctx, "merging parts failed, retrying", &w.bell, w.keepParts) })
	wait.Go(func() { w.watch(ctx) })
	wait.Go(func() { w.listen(ctx) })
	wait.Go(func() { w.maintain(ctx) })
	wait.Wait()
	return nil
}

// Once works until nothing is left to do, and returns the first error, or why it left work
// undone: what is wrong with an attachment for which none waits is none of its errors. Rows that failed are retried when they are due, and
// not waited for; tables that take no triggers are scanned once.
func (w *Worker) Once(ctx context.Context) error {
	w.catalog.forget() // a policy may be a moment old
	if err := w.tidy(ctx); err != nil {
		return err
	}
	retry := 0
	start := time.Now()
	do := func(ctx context.Context) (bool, error) {
		for _, do := range []func(context.Context) (bool, error){
			func(ctx context.Context) (bool, error) { return w.step(ctx, time.Since(start)) }, w.answerSlow, w.answerQuestions, w.extractOne, w.keepParts,
		} {
			if did, err := do(ctx); did || err != nil {
				return did, err
			}
		}
		return false, nil
	}
	for {
		did, err := do(ctx)
		switch {
		case err == nil && !did:
			sentences, _, err := w.problems(ctx)
			if err == nil && len(sentences) > 0 {
				err = fmt.Errorf("worker: %s", strings.Join(sentences, "; "))
			}
			if err == nil {
				err = w.checkOwners(ctx)
			}
			return err
		case err == nil:
			retry = 0
		case ctx.Err() != nil:
			return ctx.Err()
		case !retryable(err) || retry == 5:
			return err
		default:
			retry++
			w.log.Warn("transient error, retrying", "error", err)
			w.pause(ctx, delay(retry))
		}
	}
}

// checkOwners returns an error when there are attached tables and the worker is a member of none of their owners.
func (w *Worker) checkOwners(ctx context.Context) error {
	var why *string
	if err := w.pool.QueryRow(ctx, queries.Owners).Scan(&why); err != nil || why == nil {
		return err
	}
	return fmt.Errorf("worker: %s", *why)
}

// problems returns a sentence for each attachment that cannot be worked on though work waits
// for it, and the numbers of those that have a problem and no work.
func (w *Worker) problems(ctx context.Context) (sentences []string, idle []int32, err error) {
	rows, err := w.pool.Query(ctx, queries.Problems)
	if err != nil {
		return nil, nil, err
	}
	var id int32
	var sentence string
	var waiting bool
	_, err = pgx.ForEachRow(rows, []any{&id, &sentence, &waiting}, func() error {
		if waiting {
			sentences = append(sentences, sentence)
		} else {
			idle = append(idle, id)
		}
		return nil
	})
	return sentences, idle, err
}

// bound limits what is done with the database in one go: a network that swallows
// what is sent, or a proxy that stands still, shows itself in no other way.
func (w *Worker) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := 2 * w.config.StatementTimeout
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("the server did not answer within %s", limit))
}

// begin starts a transaction on a connection of the pool.
func (w *Worker) begin(ctx context.Context) (pgx.Tx, error) {
	return w.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
}

// undo rolls a transaction back, unless it was committed. A server that does not
// answer rolls it back by itself.
func undo(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = tx.Rollback(ctx) // its error is that of a connection that is closed then
}
