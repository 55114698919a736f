package worker

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/alike-sql/alike/queries"
)

// counters count what this worker did since it started.
type counters struct {
	batches, entries, written, removed, failures, bytes, transactions atomic.Int64
	nanoseconds                                                       atomic.Int64
	mergedEntries, mergingNanoseconds                                 atomic.Int64
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

func (c *counters) merged(entries int64, took time.Duration) {
	c.mergedEntries.Add(entries)
	c.mergingNanoseconds.Add(int64(took))
}

func (c *counters) transaction() { c.transactions.Add(1) }

// collector gives Prometheus the counters of this worker and the state of the
// queue, read when it asks.
type collector struct{ w *Worker }

var (
	describe = func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("alike_"+name, help, labels, nil)
	}
	batchesTotal  = describe("batches_total", "Batches taken from the queue.")
	entriesTotal  = describe("queue_entries_total", "Entries taken from the queue.")
	rowsTotal     = describe("rows_written_total", "Rows sketched and written.")
	removedTotal  = describe("rows_removed_total", "Rows removed from side tables.")
	bytesTotal    = describe("document_bytes_total", "Bytes of documents sketched.")
	failuresTotal = describe("row_failures_total", "Attempts at rows that failed.")
	rollbacks     = describe("batch_failures_total", "Batches that were rolled back and retried.")
	batchSeconds  = describe("batch_seconds_total", "Time spent in batches.")
	mergedTotal   = describe("entries_merged_total", "Entries copied into parts by moves and merges, in the layout parts.")
	mergeSeconds  = describe("merge_seconds_total", "Time spent in moves and merges.")
	lagSeconds    = describe("lag_seconds", "How long the newest batch had waited.")
	queuePending  = describe("queue_entries", "Entries in the queue.", "attachment")
	queueOldest   = describe("queue_oldest_seconds", "Age of the oldest entry in the queue.", "attachment")
	rowsFailing   = describe("rows_failing", "Rows that failed and will be retried.", "attachment")
	rowsParked    = describe("rows_parked", "Rows that failed for good: see pgworker errors.", "attachment")
	rowsUnfilled  = describe("rows_unfilled", "Rows from before attach that remain to be sketched.", "attachment")
	databaseUp    = describe("database_up", "1 when the database answered.")
)

func (c *collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

func (c *collector) Collect(ch chan<- prometheus.Metric) {
	n := &c.w.counters
	counter := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v)
	}
	counter(batchesTotal, float64(n.batches.Load()))
	counter(entriesTotal, float64(n.entries.Load()))
	counter(rowsTotal, float64(n.written.Load()))
	counter(removedTotal, float64(n.removed.Load()))
	counter(bytesTotal, float64(n.bytes.Load()))
	counter(failuresTotal, float64(n.failures.Load()))
	counter(rollbacks, float64(n.transactions.Load()))
	counter(batchSeconds, time.Duration(n.nanoseconds.Load()).Seconds())
	counter(mergedTotal, float64(n.mergedEntries.Load()))
	counter(mergeSeconds, time.Duration(n.mergingNanoseconds.Load()).Seconds())
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(lagSeconds, time.Duration(n.lag.Load()).Seconds())
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	rows, err := c.w.pool.Query(ctx, queries.QueueState)
	if err == nil {
		var name string
		var pending, failing, parked, unfilled int64
		var oldest float64
		_, err = pgx.ForEachRow(rows, []any{&name, &pending, &oldest, &failing, &parked, &unfilled}, func() error {
			gauge(queuePending, float64(pending), name)
			gauge(queueOldest, oldest, name)
			gauge(rowsFailing, float64(failing), name)
			gauge(rowsParked, float64(parked), name)
			gauge(rowsUnfilled, float64(unfilled), name)
			return nil
		})
	}
	up := 1.0
	if err != nil {
		up = 0
	}
	gauge(databaseUp, up)
}
