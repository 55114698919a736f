package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/alike-sql/alike/pgworker/extract"
	"github.com/alike-sql/alike/queries"
)

// Handler answers for a worker over HTTP:
//
//	GET  /health                      200 while the database answers, 503 otherwise
//	GET  /metrics                     for Prometheus
//	POST /sketch?table=T&type=M       the document in the body as a Question
//	POST /sketch?profile=P&si=V&type=M
//	POST /check?table=T&type=M&at_least=R   the rows that resemble it
//
// type is a media type, the request's Content-Type unless given; "auto" looks
// at the bytes. Answers are JSON; an error is {"error": "…"}.
func (w *Worker) Handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector{w}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /health", w.health)
	mux.HandleFunc("POST /sketch", func(rw http.ResponseWriter, r *http.Request) { answer(rw, r, w.sketchRequest) })
	mux.HandleFunc("POST /check", func(rw http.ResponseWriter, r *http.Request) { answer(rw, r, w.checkRequest) })
	return mux
}

func (w *Worker) health(rw http.ResponseWriter, r *http.Request) {
	answer(rw, r, func(r *http.Request) (any, error) {
		var one int
		if err := w.pool.QueryRow(r.Context(), "select 1").Scan(&one); err != nil {
			return nil, &statusError{http.StatusServiceUnavailable, err}
		}
		return map[string]string{"status": "ok"}, nil
	})
}

// statusError is an error with its HTTP status.
type statusError struct {
	status int
	error
}

func (e *statusError) Unwrap() error { return e.error }

// answer writes what f returns, or its error with the status that fits it.
func answer(rw http.ResponseWriter, r *http.Request, f func(*http.Request) (any, error)) {
	value, err := f(r)
	status := http.StatusOK
	if err != nil {
		status = http.StatusInternalServerError
		var own *statusError
		var database *pgconn.PgError
		switch {
		case errors.As(err, &own):
			status = own.status
		case errors.As(err, &database) && database.Code[:2] == "42": // no such table
			status = http.StatusNotFound
		case errors.As(err, &database) && database.Code[:2] == "22":
			status = http.StatusBadRequest
		case IsTransient(err):
			status = http.StatusServiceUnavailable
		}
		value = map[string]string{"error": err.Error()}
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(value) // a client that went away needs no answer
}

// document reads the body as text.
func (w *Worker) document(r *http.Request) ([]byte, error) {
	doc, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, w.config.MaxDocument))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, &statusError{http.StatusRequestEntityTooLarge, fmt.Errorf("the document has more than %d bytes", large.Limit)}
	}
	if err != nil {
		return nil, &statusError{http.StatusBadRequest, err}
	}
	media := r.URL.Query().Get("type")
	if media == "" {
		media = r.Header.Get("Content-Type")
	}
	switch media {
	case "", "application/x-www-form-urlencoded", "application/octet-stream": // what clients send unasked
		media = "auto"
	}
	text, err := w.extractor.Text(r.Context(), doc, media)
	if errors.Is(err, extract.ErrUnknownType) {
		err = &statusError{http.StatusUnsupportedMediaType, err}
	} else if err != nil {
		err = &statusError{http.StatusUnprocessableEntity, err}
	}
	return text, err
}

func (w *Worker) sketchRequest(r *http.Request) (any, error) {
	doc, err := w.document(r)
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	if table := query.Get("table"); table != "" {
		return Ask(r.Context(), w.pool, table, doc)
	}
	q, err := NewQuestion(query.Get("profile"), query["si"], doc)
	if err != nil {
		return nil, &statusError{http.StatusBadRequest, err}
	}
	return q, nil
}

// A Match is a row that resembles a document.
type Match struct {
	Key         string   `json:"key"`
	Shared      int      `json:"shared"`
	Resemblance float64  `json:"resemblance"`
	Low         float64  `json:"low"`
	High        float64  `json:"high"`
	Containment *float64 `json:"containment"`
}

func (w *Worker) checkRequest(r *http.Request) (any, error) {
	doc, err := w.document(r)
	if err != nil {
		return nil, err
	}
	var atLeast *float64
	if given := r.URL.Query().Get("at_least"); given != "" {
		n, err := strconv.ParseFloat(given, 64)
		if err != nil {
			return nil, &statusError{http.StatusBadRequest, fmt.Errorf("at_least %q is not a number", given)}
		}
		atLeast = &n
	}
	table := r.URL.Query().Get("table")
	if table == "" {
		return nil, &statusError{http.StatusBadRequest, errors.New("want table=NAME")}
	}
	q, err := Ask(r.Context(), w.pool, table, doc)
	if err != nil {
		return nil, err
	}
	if q.Sketch == nil {
		return []Match{}, nil
	}
	rows, err := w.pool.Query(r.Context(), queries.RowsLike, table, q.Features, q.Sketch, atLeast)
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows([]Match{}, rows, pgx.RowToStructByPos[Match])
}

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
	removedTotal  = describe("rows_removed_total", "Rows taken out of side tables.")
	bytesTotal    = describe("document_bytes_total", "Bytes of documents sketched.")
	failuresTotal = describe("row_failures_total", "Attempts at rows that failed.")
	rollbacks     = describe("batch_failures_total", "Batches that were rolled back and tried again.")
	batchSeconds  = describe("batch_seconds_total", "Time spent in batches.")
	lagSeconds    = describe("lag_seconds", "How long the newest batch had waited.")
	queuePending  = describe("queue_entries", "Entries in the queue.", "attachment")
	queueOldest   = describe("queue_oldest_seconds", "Age of the oldest entry in the queue.", "attachment")
	rowsFailing   = describe("rows_failing", "Rows that failed and wait for another attempt.", "attachment")
	rowsParked    = describe("rows_parked", "Rows that were given up: see pgworker errors.", "attachment")
	rowsUnfilled  = describe("rows_unfilled", "Rows that were there before and remain to be sketched.", "attachment")
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
