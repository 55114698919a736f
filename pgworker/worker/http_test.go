package worker

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// endless is a document without an end that takes no memory.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for n := 0; n < len(b); {
		n += copy(b[n:], "some words of a long document ")
	}
	return len(b), nil
}

// post posts n bytes and returns the status; a length that is not said is chunked.
func post(t *testing.T, url string, n int64, said bool) int {
	t.Helper()
	r, err := http.NewRequest("POST", url, io.LimitReader(endless{}, n))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "text/plain")
	if said {
		r.ContentLength = n
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Logf("post: %v", err) // the server may answer, and close, before it has read all
		return 0
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// Twenty-four documents of 56 MB that are posted at once take a bounded amount of
// memory: the first are answered, the others are told to retry.
func TestPostsAreBounded(t *testing.T) {
	w := newWorker(t, pgtest.Database(t), nil)
	server := httptest.NewServer(w.Handler())
	defer server.Close()
	runtime.GC()
	debug.FreeOSMemory()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	memory := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before, peak := memory(), uint64(0)
	posted, measured := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(measured)
		for {
			peak = max(peak, memory())
			select {
			case <-posted:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	var wait sync.WaitGroup
	var mutex sync.Mutex
	statuses := map[int]int{}
	for i := range 24 {
		wait.Go(func() {
			status := post(t, server.URL+"/sketch?profile=prose", 56_000_000, i%2 == 0)
			mutex.Lock()
			statuses[status]++
			mutex.Unlock()
		})
	}
	wait.Wait()
	close(posted)
	<-measured
	held := int(peak-min(before, peak)) >> 20
	t.Logf("statuses %v, %d MB held at most", statuses, held)
	if statuses[200] < 1 || statuses[429]+statuses[0] < 1 || statuses[200]+statuses[429]+statuses[0] != 24 {
		t.Errorf("24 posts are answered by %v, want 200 and 429", statuses)
	}
	if held > 400 {
		t.Errorf("%d MB were held, want at most 400", held)
	}
	// What was held is given back.
	if status := post(t, server.URL+"/sketch?profile=prose", 56_000_000, true); status != 200 {
		t.Errorf("afterwards a post is answered by %d, want 200", status)
	}
}

func TestPostLimits(t *testing.T) {
	t.Parallel()
	w := newWorker(t, pgtest.Database(t), func(c *Config) {
		c.MaxDocument = 1000
		c.Requests = 2
		c.RequestBytes = 2500
		c.RequestTime = time.Second
	})
	server := httptest.NewServer(w.Handler())
	defer server.Close()
	for _, said := range []bool{true, false} {
		if status := post(t, server.URL+"/sketch", 1001, said); status != 413 {
			t.Errorf("a document above the limit, length said %v: %d, want 413", said, status)
		}
	}
	// Two clients that do not send what they announced take the places of two requests.
	for range 2 {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "POST /sketch HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\nsome")
	}
	held := func() int {
		w.intake.mutex.Lock()
		defer w.intake.mutex.Unlock()
		return w.intake.requests
	}
	waitFor(t, "the slow clients", func() bool { return held() == 2 })
	response, err := http.Post(server.URL+"/sketch", "text/plain", strings.NewReader("a b c d"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 429 || response.Header.Get("Retry-After") == "" {
		t.Errorf("a third request: %d with Retry-After %q, want 429", response.StatusCode, response.Header.Get("Retry-After"))
	}
	waitFor(t, "the slow clients to be given up", func() bool { return held() == 0 })
	// A request that waits for its turn has an end.
	for range requestWorkers {
		w.intake.work <- struct{}{}
	}
	if status := post(t, server.URL+"/sketch", 10, true); status != 429 {
		t.Errorf("a request that found no worker: %d, want 429", status)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	w := newWorker(t, pgtest.Database(t), func(c *Config) { c.Token = "a secret" })
	handler := w.Handler()
	for _, c := range []struct {
		method, path, authorization string
		want                        int
	}{
		{"GET", "/health", "", 200},
		{"GET", "/metrics", "", 401},
		{"POST", "/sketch", "", 401},
		{"POST", "/check?table=x", "Bearer", 401},
		{"POST", "/sketch", "Bearer a secre", 401},
		{"POST", "/sketch", "Basic a secret", 401},
		{"POST", "/nothing", "Bearer wrong", 401},
		{"GET", "/metrics", "Bearer a secret", 200},
		{"POST", "/sketch", "Bearer a secret", 200},
		{"POST", "/nothing", "Bearer a secret", 404},
	} {
		r := httptest.NewRequestWithContext(context.Background(), c.method, c.path, bytes.NewReader([]byte("a b c d")))
		if c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		rw := httptest.NewRecorder()
		handler.ServeHTTP(rw, r)
		if rw.Code != c.want {
			t.Errorf("%s %s with %q: %d, want %d", c.method, c.path, c.authorization, rw.Code, c.want)
		}
	}
}
