package worker

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch/extract"
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
// at the bytes. Answers are JSON; an error is {"error": "…"}. A document above
// MaxDocument is answered by 413, a request beyond Config.Requests and
// Config.RequestBytes by 429: the client may retry. Where Config.Token is set all
// but /health want it as a bearer token, and answer 401 without.
func (w *Worker) Handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector{w}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	guarded := http.NewServeMux()
	guarded.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	guarded.HandleFunc("POST /sketch", func(rw http.ResponseWriter, r *http.Request) { answer(rw, r, w.bounded(rw, w.sketchRequest)) })
	guarded.HandleFunc("POST /check", func(rw http.ResponseWriter, r *http.Request) { answer(rw, r, w.bounded(rw, w.checkRequest)) })
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", w.health)
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) {
		given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(given), []byte(w.config.Token)) == 0 && w.config.Token != "" {
			rw.Header().Set("WWW-Authenticate", "Bearer")
			answer(rw, r, func(*http.Request) (any, error) {
				return nil, &statusError{http.StatusUnauthorized, errors.New("want the header Authorization: Bearer TOKEN")}
			})
			return
		}
		guarded.ServeHTTP(rw, r)
	})
	return mux
}

// intake bounds what requests hold.
type intake struct {
	mutex    sync.Mutex
	requests int
	bytes    int64
	work     chan struct{} // a token for each document that is being sketched
}

// requestWorkers is how many documents of requests are sketched at once, each with a
// connection to the database.
const requestWorkers = 2

// enter admits a request of a number of bytes, unless that is too much now.
func (in *intake) enter(c *Config, bytes int64) bool {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	if in.requests >= c.Requests || in.bytes+bytes > c.RequestBytes {
		return false
	}
	in.requests++
	in.bytes += bytes
	return true
}

func (in *intake) leave(bytes int64) {
	in.mutex.Lock()
	defer in.mutex.Unlock()
	in.requests--
	in.bytes -= bytes
}

// bounded runs f, which answers about the document in the body, within the limits of
// requests. A body of unknown length counts as the longest, and a client that sends
// less than a megabyte a second is not waited for: it would keep others out.
func (w *Worker) bounded(rw http.ResponseWriter, f func(r *http.Request, body []byte) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		size := r.ContentLength
		if size > w.config.MaxDocument {
			return nil, &statusError{http.StatusRequestEntityTooLarge, w.tooLarge(size)}
		} else if size < 0 {
			size = w.config.MaxDocument
		}
		busy := &statusError{http.StatusTooManyRequests, errors.New("too many requests or bytes at once, retry")}
		if !w.intake.enter(&w.config, size) {
			return nil, busy
		}
		defer w.intake.leave(size)
		ctx, cancel := context.WithTimeoutCause(r.Context(), w.config.RequestTime, fmt.Errorf("the request took longer than %s", w.config.RequestTime))
		defer cancel()
		// Without an error where the connection has deadlines; a test's has none.
		_ = http.NewResponseController(rw).SetReadDeadline(time.Now().Add(10*time.Second + time.Duration(size>>20)*time.Second))
		body, err := readBody(r.Body, r.ContentLength, w.config.MaxDocument)
		if err != nil {
			return nil, err
		}
		select {
		case w.intake.work <- struct{}{}:
			defer func() { <-w.intake.work }()
		case <-ctx.Done():
			return nil, busy
		}
		value, err := f(r.WithContext(ctx), body)
		if err != nil && ctx.Err() != nil {
			return nil, &statusError{http.StatusServiceUnavailable, context.Cause(ctx)}
		}
		return value, err
	}
}

// readBody reads a body of the length, which is negative when it is not known.
func readBody(body io.Reader, length, limit int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(max(length, 0)) + bytes.MinRead) // no copies while it grows
	_, err := b.ReadFrom(http.MaxBytesReader(nil, io.NopCloser(body), limit))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, &statusError{http.StatusRequestEntityTooLarge, fmt.Errorf("the document has more than %d bytes", large.Limit)}
	} else if err != nil {
		return nil, &statusError{http.StatusBadRequest, err}
	}
	return b.Bytes(), nil
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
	if status == http.StatusTooManyRequests {
		rw.Header().Set("Retry-After", "1")
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(value) // a client that went away needs no answer
}

// document returns the body as text.
func (w *Worker) document(r *http.Request, body []byte) ([]byte, error) {
	media := r.URL.Query().Get("type")
	if media == "" {
		media = r.Header.Get("Content-Type")
	}
	switch media {
	case "", "application/x-www-form-urlencoded", "application/octet-stream": // what clients send unasked
		media = "auto"
	}
	text, err := w.extractor.Text(r.Context(), body, media)
	if errors.Is(err, extract.ErrUnknownType) {
		err = &statusError{http.StatusUnsupportedMediaType, err}
	} else if err != nil {
		err = &statusError{http.StatusUnprocessableEntity, err}
	}
	return text, err
}

func (w *Worker) sketchRequest(r *http.Request, body []byte) (any, error) {
	doc, err := w.document(r, body)
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

func (w *Worker) checkRequest(r *http.Request, body []byte) (any, error) {
	doc, err := w.document(r, body)
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
	rows, err := w.pool.Query(r.Context(), queries.RowsLike, table, q.Features, q.Sketch, atLeast, q.Shingles)
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows([]Match{}, rows, pgx.RowToStructByPos[Match])
}
