package worker

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/alike-sql/alike/sketch/extract"
)

// A post that names no table gets JSON: the sketch, or an error of the client's.
func FuzzPosts(f *testing.F) {
	f.Add(false, "profile=prose&si=32B/20", "text/plain", []byte("some words of a document"))
	f.Add(false, "profile=prose&si=nonsense&type=html", "", []byte("<p>some words"))
	f.Add(false, "profile=%zz;x&type=%00", "a/b; c=", []byte("\x00\xff"))
	f.Add(true, "at_least=2&table=", "application/pdf", []byte("%PDF-1.7"))
	extractor, err := extract.New(extract.Config{Commands: map[string][]string{}})
	if err != nil {
		f.Fatal(err)
	}
	w := &Worker{extractor: extractor, config: Config{MaxDocument: 1 << 20, Requests: 1, RequestBytes: 1 << 21, RequestTime: time.Minute}}
	w.intake.work = make(chan struct{}, requestWorkers)
	f.Fuzz(func(t *testing.T, check bool, query, media string, body []byte) {
		f := w.sketchRequest
		if check {
			f = w.checkRequest
		}
		r := httptest.NewRequest("POST", "http://localhost/", bytes.NewReader(body))
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", media)
		if r.URL.Query().Get("table") != "" {
			return // asks the database
		}
		got := httptest.NewRecorder()
		answer(got, r, w.bounded(got, f))
		switch got.Code {
		case http.StatusOK, http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		default:
			t.Fatalf("check %v, %q, %q, %q: %d %s", check, query, media, body, got.Code, got.Body)
		}
		var value map[string]any
		if err := json.Unmarshal(got.Body.Bytes(), &value); err != nil || (got.Code == http.StatusOK) != (value["error"] == nil) {
			t.Fatalf("check %v, %q, %q, %q: %d %s, %v", check, query, media, body, got.Code, got.Body, err)
		}
		if w.intake.requests != 0 || w.intake.bytes != 0 || len(w.intake.work) != 0 {
			t.Fatalf("check %v, %q holds %d requests of %d bytes afterwards", check, query, w.intake.requests, w.intake.bytes)
		}
	})
}
