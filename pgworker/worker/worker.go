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
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alike-sql/alike/pgworker/extract"
	"github.com/alike-sql/alike/queries"
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
	worked    chan struct{} // there was something
}

// New checks the configuration and the database's schema.
func New(ctx context.Context, config Config) (*Worker, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.Extract.Output == 0 {
		config.Extract.Output = config.MaxDocument
	}
	extractor, err := extract.New(config.Extract)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	poolConfig, err := pgxpool.ParseConfig(config.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("worker: database URL: %w", err)
	}
	// A lane writes on one connection while it reads on another. One listens, one
	// looks, one answers slow requests, one is for health and metrics.
	poolConfig.MaxConns = int32(2*config.Lanes + config.Extractions + 4 + requestWorkers)
	milliseconds := func(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }
	for name, value := range map[string]string{
		"application_name":                    "alike worker",
		"search_path":                         "pg_catalog",
		"statement_timeout":                   milliseconds(config.StatementTimeout),
		"lock_timeout":                        milliseconds(config.LockTimeout),
		"idle_in_transaction_session_timeout": milliseconds(config.IdleTimeout),
		"client_encoding":                     "UTF8",
		"jit":                                 "off", // many short statements
	} {
		poolConfig.ConnConfig.RuntimeParams[name] = value
	}
	poolConfig.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, queries.Settings)
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	w := &Worker{config: config, pool: pool, extractor: extractor, log: config.Logger, worked: make(chan struct{}, 1)}
	w.intake.work = make(chan struct{}, requestWorkers)
	w.catalog.w = w
	var there bool
	if err := pool.QueryRow(ctx, "select to_regclass('alike.extraction') is not null").Scan(&there); err != nil {
		pool.Close()
		return nil, fmt.Errorf("worker: connect: %w", err)
	}
	if !there {
		pool.Close()
		return nil, fmt.Errorf("worker: the database has no schema alike; pgworker migrate up makes it")
	}
	return w, nil
}

// Close closes the connections. Run must have returned.
func (w *Worker) Close() { w.pool.Close() }

// Run works until ctx is cancelled, and then returns nil: the batch at hand is
// rolled back, and whoever comes next does it. A database that cannot be
// reached is waited for.
func (w *Worker) Run(ctx context.Context) error {
	var wait sync.WaitGroup
	for range w.config.Lanes {
		wait.Go(func() { w.lane(ctx) })
	}
	for range w.config.Extractions {
		wait.Go(func() { w.extraction(ctx) })
	}
	wait.Go(func() { w.repeat(ctx, "answering a request failed, retrying", w.answerSlow) })
	wait.Go(func() { w.watch(ctx) })
	wait.Go(func() { w.listen(ctx) })
	wait.Go(func() { w.maintain(ctx) })
	wait.Wait()
	return nil
}

// Once works until nothing is left to do, and returns the first error. Rows
// that failed and wait for another attempt are not waited for; tables that take
// no triggers are scanned once.
func (w *Worker) Once(ctx context.Context) error {
	w.catalog.forget() // a policy may be a moment old
	retry := 0
	start := time.Now()
	do := func(ctx context.Context) (bool, error) {
		for _, do := range []func(context.Context) (bool, error){
			func(ctx context.Context) (bool, error) { return w.step(ctx, time.Since(start)) }, w.answerSlow, w.extractOne,
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
			return nil
		case err == nil:
			retry = 0
		case ctx.Err() != nil:
			return ctx.Err()
		case !whole(err) || retry == 5:
			return err
		default:
			retry++
			w.log.Warn("transient error, retrying", "error", err)
			w.pause(ctx, delay(retry))
		}
	}
}

// begin starts a transaction on a connection of the pool.
func (w *Worker) begin(ctx context.Context) (pgx.Tx, error) {
	return w.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
}
