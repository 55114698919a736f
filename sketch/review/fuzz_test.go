package review

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alike-sql/alike/sketch"
)

// hostile stands in every key, title, text and note of the source. No page may show it as markup.
const hostile = `</textarea><script>alert(1)</script>"'`

// A pretended source has one table with more pairs than a page of the list.
type pretended struct{ decided map[[2]string]Decision }

func (*pretended) Tables(context.Context) ([]Table, error) {
	p, err := sketch.ParseProfile("prose")
	return []Table{{Name: hostile, Profile: p, AtLeast: 0.5}}, err
}

func (*pretended) Pairs(_ context.Context, _ string, _ float64, each func(Pair) error) error {
	for i := 1; i <= 120; i++ {
		a, b := hostile+strconv.Itoa(i), hostile+strconv.Itoa(-i)
		if err := each(Pair{[2]string{a, b}, [2]string{a, b}, 0.5, 0.4, 0.6}); err != nil {
			return err
		}
	}
	return nil
}

func (s *pretended) Decisions(_ context.Context, _ string, of *[2]string) (list []Decision, err error) {
	for keys, d := range s.decided {
		if of == nil || keys == id(*of) {
			list = append(list, d)
		}
	}
	return list, nil
}

func (*pretended) Texts(context.Context, string, [2]string) ([2]Text, error) {
	return [2]Text{{Text: "one " + hostile}, {Text: "two " + hostile}}, nil
}

func (s *pretended) Decide(_ context.Context, _ string, d Decision) error {
	if delete(s.decided, id(d.Keys)); d.Verdict != None {
		d.At = time.Unix(1, 0)
		s.decided[id(d.Keys)] = d
	}
	return nil
}

// No address and no form makes a page fail or run what a document, a key or a note holds.
func FuzzRequests(f *testing.F) {
	for _, path := range []string{"", "list", "threshold", "open", "page.css", "keys.js", "decide", "undo", "withdraw", "again", "person", "leave", "nowhere"} {
		f.Add(true, path, "verdict=duplicate&note=looks+alike&person=Ann&seen=")
		f.Add(false, path, "page=1&show=decided&from=0.2&to=NaN&cluster=a")
		f.Add(false, path, "page=184467440737095517&key=a&other=b&token=wrong")
	}
	f.Fuzz(func(t *testing.T, post bool, path, values string) {
		if strings.HasPrefix(path, "open") {
			values = strings.ReplaceAll(values, "token", "taken") // a wrong token waits a second
		}
		c := Config{Source: &pretended{map[[2]string]Decision{}}, Title: hostile, Token: "token", Below: 0.1, Most: 100}
		s := &server{config: c, cookie: "c", sessions: map[string]*session{}, queues: map[string]*queue{}}
		name := s.begin()
		request := func(method, path, query, form string) {
			r := httptest.NewRequest(method, "http://localhost"+Prefix, strings.NewReader(form))
			r.URL.Path += path
			r.URL.RawQuery = query
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.AddCookie(&http.Cookie{Name: "c", Value: name})
			w := httptest.NewRecorder()
			s.routes().ServeHTTP(w, r)
			if w.Code >= 500 || strings.Contains(w.Body.String(), "<script>alert") {
				t.Fatalf("%s %q, query %q, form %q: %d %s", method, path, query, form, w.Code, w.Body)
			}
		}
		form := func() string {
			x := s.sessions[name]
			if x == nil { // the form before ended it
				return values
			}
			pair := url.Values{"key": {hostile + "1"}, "other": {hostile + "-1"}, "secret": {x.secret}}
			return values + "&" + pair.Encode()
		}
		if post {
			request("POST", path, "", form())
			request("GET", "list", "show=decided", "")
			request("POST", "undo", "", form())
		} else {
			request("GET", path, values, "")
		}
		request("GET", "", values, "")
		request("GET", "threshold", "", "")
	})
}
