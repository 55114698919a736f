package worker

import (
	"sync/atomic"
	"time"
)

// counters count what this worker did since it started.
type counters struct {
	batches, entries, written, removed, failures, bytes, transactions atomic.Int64
	nanoseconds                                                       atomic.Int64
	lag                                                               atomic.Int64 // of the newest batch, in nanoseconds
}

func (c *counters) batch(entries int, took, lag time.Duration) {
	c.batches.Add(1)
	c.entries.Add(int64(entries))
	c.nanoseconds.Add(int64(took))
	c.lag.Store(int64(lag))
}

func (c *counters) rows(written, removed int, bytes int64) {
	c.written.Add(int64(written))
	c.removed.Add(int64(removed))
	c.bytes.Add(bytes)
}

func (c *counters) failed(rows int) { c.failures.Add(int64(rows)) }

func (c *counters) transaction() { c.transactions.Add(1) }
