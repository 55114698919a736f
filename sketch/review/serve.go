package review

import (
	"bytes"
	"context"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/alike-sql/alike/sketch/compare"
)

//go:embed page.html page.css keys.js
var files embed.FS

var pages = template.Must(template.Must(template.New("").Funcs(compare.Funcs).Funcs(template.FuncMap{
	"nan":  math.IsNaN,
	"key":  func(shown string) string { return compare.Clip(shown, 60) },
	"list": func(items ...string) []string { return items },
}).Parse(compare.HTML)).ParseFS(files, "page.html"))

// A statusError is an error with its HTTP status.
type statusError struct {
	status int
	error
}

var errNothing = statusError{http.StatusNotFound, errors.New("nothing is attached in this database")}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	static := func(name, media string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			b, err := files.ReadFile(name)
			if err != nil {
				s.fail(w, err)
				return
			}
			if name == "page.css" {
				b = bytes.Replace(b, []byte("/*compare*/"), []byte(compare.CSS), 1)
			}
			w.Header().Set("Content-Type", media)
			w.Write(b)
		}
	}
	mux.HandleFunc("GET "+Prefix+"page.css", static("page.css", "text/css; charset=utf-8"))
	mux.HandleFunc("GET "+Prefix+"keys.js", static("keys.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET "+Prefix+"open", s.open)
	mux.HandleFunc("POST "+Prefix+"open", s.open)
	for path, page := range map[string]func(*http.Request, *session) (string, any, error){
		"{$}": s.pairPage, "list": s.listPage, "threshold": s.thresholdPage,
	} {
		mux.HandleFunc("GET "+Prefix+path, s.known(func(w http.ResponseWriter, r *http.Request, x *session) {
			name, view, err := page(r, x)
			if err != nil {
				s.fail(w, err)
				return
			}
			s.show(w, http.StatusOK, name, view)
		}))
	}
	for path, act := range map[string]func(*http.Request, *session) error{
		"decide": s.decide, "undo": s.undo, "withdraw": s.withdraw, "again": s.again, "person": s.person, "leave": s.leave,
	} {
		mux.HandleFunc("POST "+Prefix+path, s.known(func(w http.ResponseWriter, r *http.Request, x *session) {
			if subtle.ConstantTimeCompare([]byte(r.PostFormValue("secret")), []byte(x.secret)) == 0 {
				s.fail(w, statusError{http.StatusForbidden, errors.New("this form is not of this session; open the page again")})
				return
			}
			if err := act(r, x); err != nil {
				s.fail(w, err)
				return
			}
			http.Redirect(w, r, s.back(r), http.StatusSeeOther)
		}))
	}
	return s.guard(mux)
}

// guard refuses requests that our pages do not make, and sends the headers that restrict the
// pages.
func (s *server) guard(next http.Handler) http.Handler {
	sites := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		// The name of another site can be made to resolve to this server. A page of that site
		// could then read this page.
		if !s.ours(r.Host) {
			s.fail(w, statusError{http.StatusMisdirectedRequest, fmt.Errorf("this server is not called %.100q; name it when you start it", r.Host)})
			return
		}
		if err := sites.Check(r); err != nil {
			s.fail(w, statusError{http.StatusForbidden, errors.New("the request comes from another site")})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		next.ServeHTTP(w, r)
	})
}

// ours reports whether Host is an address or a name of this server.
func (s *server) ours(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	} else if len(name) > 2 && name[0] == '[' {
		name = name[1 : len(name)-1]
	}
	_, err := netip.ParseAddr(name)
	return err == nil || name == "localhost" || slices.Contains(s.config.Hosts, name)
}

// open makes a session for a browser that sends the token.
func (s *server) open(w http.ResponseWriter, r *http.Request) {
	token := r.URL.Query().Get("token")
	if r.Method == http.MethodPost {
		token = r.PostFormValue("token")
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.config.Token)) == 0 {
		if token != "" {
			select { // slows down guessing
			case <-time.After(time.Second):
			case <-r.Context().Done():
			}
		}
		s.show(w, http.StatusUnauthorized, "open", map[string]any{"Title": s.config.Title, "Wrong": token != ""})
		return
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: s.begin(), Path: Prefix, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil, MaxAge: int(lifetime.Seconds())})
	http.Redirect(w, r, Prefix, http.StatusSeeOther)
}

// known runs a handler for a browser with a session, one request at a time.
func (s *server) known(f func(http.ResponseWriter, *http.Request, *session)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie(s.cookie)
		if err == nil {
			s.mutex.Lock()
			defer s.mutex.Unlock()
			if x := s.sessions[cookie.Value]; x != nil && time.Since(x.used) < lifetime {
				x.used = time.Now()
				f(w, r, x)
				return
			}
		}
		s.show(w, http.StatusUnauthorized, "open", map[string]any{"Title": s.config.Title, "Wrong": false})
	}
}

func (s *server) show(w http.ResponseWriter, status int, name string, view any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, view); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
		if err := pages.ExecuteTemplate(&b, "failed", map[string]any{"Title": s.config.Title, "Why": err.Error()}); err != nil {
			http.Error(w, err.Error(), status)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

func (s *server) fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var own statusError
	if errors.As(err, &own) {
		status = own.status
	}
	s.show(w, status, "failed", map[string]any{"Title": s.config.Title, "Why": err.Error()})
}

// filterOf reads a filter from a query or a form.
func filterOf(values url.Values) filter {
	f := filter{Table: values.Get("table"), Cluster: values.Get("cluster"), From: 0, To: 1, Show: values.Get("show")}
	number := func(name string, into *float64) {
		if x, err := strconv.ParseFloat(values.Get(name), 64); err == nil && x >= 0 && x <= 1 {
			*into = x
		}
	}
	number("from", &f.From)
	number("to", &f.To)
	if f.Show != "later" && f.Show != "decided" {
		f.Show = "waiting"
	}
	return f
}

// Query writes the filter as a query, without values that are the default.
func (f filter) Query() template.URL {
	values := url.Values{}
	set := func(name, value, usual string) {
		if value != usual {
			values.Set(name, value)
		}
	}
	set("table", f.Table, "")
	set("cluster", f.Cluster, "")
	set("from", f.FromText(), "0")
	set("to", f.ToText(), "1")
	set("show", f.Show, "waiting")
	return template.URL(values.Encode()) // #nosec: it is encoded
}

func (f filter) FromText() string { return strconv.FormatFloat(f.From, 'f', -1, 64) }
func (f filter) ToText() string   { return strconv.FormatFloat(f.To, 'f', -1, 64) }

// With is the filter with another value of show.
func (f filter) With(show string) filter { f.Show = show; return f }

// All is the filter that every pair of the table passes.
func (f filter) All() filter { return filter{Table: f.Table, To: 1, Show: f.Show} }

// OfCluster is the filter for the cluster of a row.
func (f filter) OfCluster(shown string) filter { f.Cluster = shown; return f }

// back is the page from which a form was sent.
func (s *server) back(r *http.Request) string {
	path := Prefix
	if r.PostFormValue("page") == "list" {
		path += "list"
	}
	return path + "?" + string(filterOf(r.PostForm).Query())
}

// A common holds the data that every page shows.
type common struct {
	Title, Page, Secret, Person string
	Tables                      []Table
	Table                       Table
	Filter                      filter
	Counts                      map[string]int // pairs by the value of Show, under the filter
	Last                        string         // the change that undo takes back
	Read                        time.Time
	More                        bool
	Held                        int
}

func (s *server) common(r *http.Request, x *session, page string) (common, *queue, []int, error) {
	f := filterOf(r.URL.Query())
	q, err := s.queueOf(r.Context(), f.Table, false)
	if err != nil {
		return common{}, nil, nil, err
	}
	f.Table = q.table.Name
	c := common{Title: s.config.Title, Page: page, Secret: x.secret, Person: x.person, Tables: s.tables, Table: q.table, Filter: f,
		Counts: map[string]int{}, Read: q.read, More: q.more, Held: len(q.pairs)}
	for _, show := range []string{"waiting", "later", "decided"} {
		c.Counts[show] = len(q.matching(f.With(show)))
	}
	if len(x.last) > 0 {
		c.Last = x.last[len(x.last)-1].what
	}
	return c, q, q.matching(f), nil
}

// A pairView is a pair with its documents.
type pairView struct {
	common
	Pair     *Pair
	Compared *compare.Comparison
	Whole    [2]string
	Decision *Decision
	Cluster  int // pairs in its cluster
	Of       int
	Note     string
}

// whole is the size up to which a document is shown in full.
const whole = 100 << 10

func (s *server) pairPage(r *http.Request, x *session) (string, any, error) {
	c, q, list, err := s.common(r, x, "pair")
	if err != nil {
		return "", nil, err
	}
	v := &pairView{common: c, Of: len(list)}
	n := -1
	if len(list) > 0 {
		n = list[0]
	}
	query := r.URL.Query()
	if query.Has("key") {
		i, ok := q.at[id([2]string{query.Get("key"), query.Get("other")})]
		if !ok {
			return "", nil, statusError{http.StatusNotFound, errors.New("this pair is not among those that were read")}
		}
		n = i
	}
	if n < 0 {
		return "pair", v, nil
	}
	// Another person may have decided, or it may be time to read the pairs again.
	for range list {
		if err := s.renew(r.Context(), q, q.pairs[n]); err != nil {
			return "", nil, err
		}
		if _, decided := q.decisions[id(q.pairs[n].Keys)]; !decided || query.Has("key") || c.Filter.Show == "decided" {
			break
		}
		if list = q.matching(c.Filter); len(list) == 0 {
			return "pair", v, nil
		}
		n = list[0]
	}
	p := q.pairs[n]
	v.Pair, v.Cluster = &p, q.sizes[q.clusters[n]]
	if d, ok := q.decisions[id(p.Keys)]; ok {
		v.Decision = &d
	}
	texts, err := s.config.Source.Texts(r.Context(), q.table.Name, p.Keys)
	if err != nil {
		return "", nil, err
	}
	v.Compared = &compare.Comparison{Why: texts[0].Why}
	if texts[0].Why == "" {
		v.Compared.Why = texts[1].Why
	}
	if v.Compared.Why == "" {
		v.Compared = compare.Texts(q.table.Profile, texts[0].Text, texts[1].Text)
	}
	for i, t := range texts {
		v.Whole[i] = t.Text
		if t.Why != "" {
			v.Whole[i] = "(" + t.Why + ")"
		} else if len(t.Text) > whole {
			v.Whole[i] = t.Text[:whole] + " …"
		}
		v.Whole[i] = compare.Visible(v.Whole[i])
	}
	return "pair", v, nil
}

// renew reads the current decision on a pair, which may have been made elsewhere.
func (s *server) renew(ctx context.Context, q *queue, p Pair) error {
	decisions, err := s.config.Source.Decisions(ctx, q.table.Name, &p.Keys)
	if err != nil {
		return err
	}
	if len(decisions) == 0 {
		delete(q.decisions, id(p.Keys))
		return nil
	}
	q.decisions[id(p.Keys)] = decisions[0]
	return nil
}

// A listView is one page of the pairs that pass a filter.
type listView struct {
	common
	Rows            []listRow
	Start, End, All int
	Before, After   template.URL // queries of the pages beside this one
}

type listRow struct {
	Pair
	Query    template.URL
	Decision *Decision
}

const listed = 50

func (s *server) listPage(r *http.Request, x *session) (string, any, error) {
	c, q, list, err := s.common(r, x, "list")
	if err != nil {
		return "", nil, err
	}
	v := &listView{common: c, All: len(list)}
	page, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || page < 0 || page > max(len(list)-1, 0)/listed {
		page = 0
	}
	first, last := page*listed, min(len(list), (page+1)*listed)
	v.Start, v.End = first+1, last
	at := func(n int) template.URL { return c.Filter.Query() + template.URL("&page="+strconv.Itoa(n)) }
	if page > 0 {
		v.Before = at(page - 1)
	}
	if last < len(list) {
		v.After = at(page + 1)
	}
	for _, n := range list[first:last] {
		p := q.pairs[n]
		row := listRow{Pair: p, Query: c.Filter.Query() + template.URL("&"+url.Values{"key": {p.Keys[0]}, "other": {p.Keys[1]}}.Encode())}
		if d, ok := q.decisions[id(p.Keys)]; ok {
			row.Decision = &d
		}
		v.Rows = append(v.Rows, row)
	}
	return "list", v, nil
}

type thresholdView struct {
	common
	Agreement
	Enough, EnoughOfEach int
	Floor                float64
}

func (s *server) thresholdPage(r *http.Request, x *session) (string, any, error) {
	c, q, _, err := s.common(r, x, "threshold")
	if err != nil {
		return "", nil, err
	}
	decisions, err := s.config.Source.Decisions(r.Context(), q.table.Name, nil)
	if err != nil {
		return "", nil, err
	}
	return "threshold", &thresholdView{c, Agree(decisions, q.table.AtLeast), enough, enoughOfEach, max(0, q.table.AtLeast-s.config.Below)}, nil
}

// formPair returns the pair that a form names.
func (s *server) formPair(r *http.Request) (*queue, Pair, error) {
	q, err := s.queueOf(r.Context(), r.PostFormValue("table"), false)
	if err != nil {
		return nil, Pair{}, err
	}
	i, ok := q.at[id([2]string{r.PostFormValue("key"), r.PostFormValue("other")})]
	if !ok {
		return nil, Pair{}, statusError{http.StatusNotFound, errors.New("this pair is not among those that were read")}
	}
	return q, q.pairs[i], nil
}

// decide keeps a verdict, unless another person has given one since the form was shown.
func (s *server) decide(r *http.Request, x *session) error {
	q, p, err := s.formPair(r)
	if err != nil {
		return err
	}
	verdict := r.PostFormValue("verdict")
	switch verdict {
	case "later":
		q.later[id(p.Keys)] = true
		return nil
	case Duplicate, Distinct:
	default:
		return statusError{http.StatusBadRequest, fmt.Errorf("the verdict is %.100q, want duplicate, distinct or later", verdict)}
	}
	if err := s.renew(r.Context(), q, p); err != nil {
		return err
	}
	before, decided := q.decisions[id(p.Keys)]
	if decided && before.Verdict == verdict {
		return nil
	}
	if seen := r.PostFormValue("seen"); decided && before.Verdict != seen {
		return statusError{http.StatusConflict, fmt.Errorf("this pair was called %s meanwhile%s; look at it again among the decided ones", before.Verdict, by(before.By))}
	}
	if !decided {
		before = Decision{Pair: p, Verdict: None}
	}
	d := Decision{Pair: p, Verdict: verdict, Note: clean(r.PostFormValue("note"), maxNote), By: x.person, At: time.Now()}
	return s.change(r.Context(), x, q, d, before, fmt.Sprintf("%s and %s are called %s", p.Shown[0], p.Shown[1], verdict))
}

func by(person string) string {
	if person == "" {
		return ""
	}
	return " by " + person
}

// change stores a decision in the database, and the previous one in the session for undo.
func (s *server) change(ctx context.Context, x *session, q *queue, d, before Decision, what string) error {
	if err := s.config.Source.Decide(ctx, q.table.Name, d); err != nil {
		return err
	}
	q.settle(d)
	if d.Verdict != None { // the database has the name and the note
		if err := s.renew(ctx, q, d.Pair); err != nil {
			return err
		}
	}
	x.last = append(x.last, change{q.table.Name, d.Pair, before, what})
	x.last = x.last[max(0, len(x.last)-maxChanges):]
	return nil
}

// withdraw takes back any verdict.
func (s *server) withdraw(r *http.Request, x *session) error {
	q, p, err := s.formPair(r)
	if err != nil {
		return err
	}
	if err := s.renew(r.Context(), q, p); err != nil {
		return err
	}
	before, decided := q.decisions[id(p.Keys)]
	if !decided {
		return nil
	}
	return s.change(r.Context(), x, q, Decision{Pair: p, Verdict: None}, before, fmt.Sprintf("the verdict on %s and %s is withdrawn", p.Shown[0], p.Shown[1]))
}

// undo brings back what was before the last change of this session.
func (s *server) undo(r *http.Request, x *session) error {
	if len(x.last) == 0 {
		return nil
	}
	last := x.last[len(x.last)-1]
	q, err := s.queueOf(r.Context(), last.table, false)
	if err != nil {
		return err
	}
	if err := s.config.Source.Decide(r.Context(), last.table, last.before); err != nil {
		return err
	}
	q.settle(last.before)
	x.last = x.last[:len(x.last)-1]
	r.PostForm.Set("table", last.table)
	return nil
}

// again reads the pairs of a table anew.
func (s *server) again(r *http.Request, _ *session) error {
	_, err := s.queueOf(r.Context(), r.PostFormValue("table"), true)
	return err
}

func (s *server) person(r *http.Request, x *session) error {
	x.person = clean(r.PostFormValue("person"), maxPerson)
	return nil
}

// leave ends every session of this server that shares the cookie.
func (s *server) leave(r *http.Request, x *session) error {
	for name, other := range s.sessions {
		if other == x {
			delete(s.sessions, name)
		}
	}
	return nil
}
