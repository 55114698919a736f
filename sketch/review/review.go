// Package review serves a page on which people decide about pairs of rows. It shows the pairs
// that wait for a verdict, uncertain ones first, with both documents side by side, and
// evaluates the threshold by the decisions. Each engine has a Source, which reads the pairs
// and keeps the verdicts.
//
// The page works without scripts and shows the contents of documents and keys as text. The
// server refuses requests without the token, from other sites, and under a host name that is
// not its own.
package review

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alike-sql/alike/sketch"
)

// A Source is a database in which people judge pairs. It must be safe for concurrent use.
// Its keys have a form of its own, which only the Source itself reads.
type Source interface {
	Tables(ctx context.Context) ([]Table, error)
	// Pairs calls each with the pairs at a resemblance and above, the best first. It stops
	// at an error of each and returns it.
	Pairs(ctx context.Context, table string, atLeast float64, each func(Pair) error) error
	// Decisions returns all verdicts, or the verdict on one pair of keys.
	Decisions(ctx context.Context, table string, of *[2]string) ([]Decision, error)
	// Texts reads documents.
	Texts(ctx context.Context, table string, keys [2]string) ([2]Text, error)
	// Decide keeps a verdict, or withdraws it when it is None. The decision's By may be "".
	Decide(ctx context.Context, table string, d Decision) error
}

// A Table is an attachment.
type Table struct {
	Name    string
	Profile sketch.Profile
	AtLeast float64
}

// A Pair is two rows. Shown holds their keys in a form for people.
type Pair struct {
	Keys                   [2]string
	Shown                  [2]string
	Resemblance, Low, High float64
}

// A Text is a document, or why it cannot be shown.
type Text struct{ Text, Why string }

// The verdicts that a person can give.
const (
	Duplicate = "duplicate"
	Distinct  = "distinct"
	None      = "none"
)

// A Decision is a verdict on a pair. The Resemblance is NaN when it is not known.
type Decision struct {
	Pair
	Verdict, Note, By string
	At                time.Time
}

// A Config says how pages are served.
type Config struct {
	Source Source
	// Title names the database.
	Title string
	// Token opens the page. It must not be empty.
	Token string
	// Hosts are the names, beside localhost and addresses, under which browsers reach the server.
	Hosts []string
	// Person is the name under which decisions are kept unless a person gives another.
	Person string
	// Below says how far under its threshold the pairs of a table are read. Defaults to 0.1.
	Below float64
	// Most is the most pairs of a table that the server holds. Defaults to 100,000.
	Most int
}

// Prefix is the path under which Handler answers.
const Prefix = "/review/"

// NewToken returns a token that cannot be guessed.
func NewToken() string { return rand.Text() }

// Open is the path that a person opens first.
func Open(token string) string { return Prefix + "open?token=" + token }

// Handler returns the handler for the pages under Prefix.
func Handler(c Config) (http.Handler, error) {
	if c.Token == "" {
		return nil, errors.New("review: the token is empty")
	}
	if c.Below == 0 {
		c.Below = 0.1
	}
	if c.Most == 0 {
		c.Most = 100_000
	}
	sum := sha256.Sum256([]byte(c.Token))
	s := &server{config: c, cookie: "alike_review_" + hex.EncodeToString(sum[:4]), sessions: map[string]*session{}, queues: map[string]*queue{}}
	return s.routes(), nil
}

// A server holds the state that its pages share.
type server struct {
	config   Config
	cookie   string
	mutex    sync.Mutex // guards the fields below
	sessions map[string]*session
	tables   []Table
	queues   map[string]*queue
}

// A queue holds the pairs of a table, read at one moment, and the decisions made since.
type queue struct {
	table     Table
	pairs     []Pair // uncertain ones first
	at        map[[2]string]int
	clusters  []int // of each pair, by the number of its best pair
	sizes     map[int]int
	decisions map[[2]string]Decision
	later     map[[2]string]bool
	read      time.Time
	more      bool // true if the table has more pairs than the queue holds
}

// id identifies a pair regardless of the order of its rows.
func id(keys [2]string) [2]string {
	if keys[0] > keys[1] {
		return [2]string{keys[1], keys[0]}
	}
	return keys
}

// errEnough ends the reading of pairs.
var errEnough = errors.New("enough")

// queueOf returns the pairs of a table, which it reads when it has not yet, or again.
func (s *server) queueOf(ctx context.Context, name string, again bool) (*queue, error) {
	if s.tables == nil || again {
		tables, err := s.config.Source.Tables(ctx)
		if err != nil {
			return nil, err
		}
		s.tables = tables
	}
	if len(s.tables) == 0 {
		return nil, errNothing
	}
	if name == "" {
		name = s.tables[0].Name
	}
	if q := s.queues[name]; q != nil && !again {
		return q, nil
	}
	i := slices.IndexFunc(s.tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return nil, statusError{http.StatusNotFound, fmt.Errorf("nothing called %q is attached", name)}
	}
	q := &queue{table: s.tables[i], at: map[[2]string]int{}, sizes: map[int]int{}, decisions: map[[2]string]Decision{}, later: map[[2]string]bool{}, read: time.Now()}
	if old := s.queues[name]; old != nil {
		q.later = old.later
	}
	decisions, err := s.config.Source.Decisions(ctx, name, nil)
	if err != nil {
		return nil, err
	}
	for _, d := range decisions {
		q.decisions[id(d.Keys)] = d
	}
	err = s.config.Source.Pairs(ctx, name, max(0, q.table.AtLeast-s.config.Below), func(p Pair) error {
		if len(q.pairs) >= s.config.Most {
			q.more = true
			return errEnough
		}
		q.add(p)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	for _, d := range decisions { // a distinct pair is no longer a pair
		q.add(d.Pair)
	}
	q.order()
	s.queues[name] = q
	return q, nil
}

func (q *queue) add(p Pair) {
	if _, ok := q.at[id(p.Keys)]; !ok {
		q.at[id(p.Keys)] = len(q.pairs)
		q.pairs = append(q.pairs, p)
	}
}

// doubt returns the distance of a pair from the threshold, in widths of its interval.
func (q *queue) doubt(p Pair) float64 {
	if math.IsNaN(p.Resemblance) {
		return math.Inf(1)
	}
	return math.Abs(p.Resemblance-q.table.AtLeast) / max(p.High-p.Low, 0.01)
}

// order puts the most uncertain pairs first, and keeps pairs with a common row together.
func (q *queue) order() {
	slices.SortStableFunc(q.pairs, func(a, b Pair) int { return cmp.Compare(q.doubt(a), q.doubt(b)) })
	first := map[string]int{} // a row's pair
	q.clusters = make([]int, len(q.pairs))
	find := func(i int) int {
		for q.clusters[i] != i {
			q.clusters[i] = q.clusters[q.clusters[i]]
			i = q.clusters[i]
		}
		return i
	}
	for i, p := range q.pairs {
		q.at[id(p.Keys)], q.clusters[i] = i, i
		for _, key := range p.Keys {
			if j, ok := first[key]; ok {
				a, b := find(j), find(i)
				q.clusters[max(a, b)] = min(a, b)
			} else {
				first[key] = i
			}
		}
	}
	for i := range q.pairs {
		q.clusters[i] = find(i)
		q.sizes[q.clusters[i]]++
	}
}

// cluster returns the cluster of a row, or -1. The row is given as people read it.
func (q *queue) cluster(shown string) int {
	for i, p := range q.pairs {
		if p.Shown[0] == shown || p.Shown[1] == shown {
			return q.clusters[i]
		}
	}
	return -1
}

// settle records a decision.
func (q *queue) settle(d Decision) {
	delete(q.later, id(d.Keys))
	if d.Verdict == None {
		delete(q.decisions, id(d.Keys))
		return
	}
	q.decisions[id(d.Keys)] = d
}

// A filter chooses pairs.
type filter struct {
	Table, Cluster string
	From, To       float64
	Show           string // waiting, later, decided
}

// matching returns the numbers of the pairs that pass a filter, the most uncertain or the
// latest decision first.
func (q *queue) matching(f filter) []int {
	cluster := -1
	if f.Cluster != "" {
		if cluster = q.cluster(f.Cluster); cluster < 0 {
			return nil
		}
	}
	var list []int
	for i, p := range q.pairs {
		_, decided := q.decisions[id(p.Keys)]
		later := q.later[id(p.Keys)]
		switch {
		case cluster >= 0 && q.clusters[i] != cluster,
			p.Resemblance < f.From || p.Resemblance > f.To,
			f.Show == "decided" && !decided, f.Show == "later" && (decided || !later), f.Show == "waiting" && (decided || later):
			continue
		}
		list = append(list, i)
	}
	if f.Show == "decided" {
		slices.SortStableFunc(list, func(a, b int) int {
			return q.decisions[id(q.pairs[b].Keys)].At.Compare(q.decisions[id(q.pairs[a].Keys)].At)
		})
	}
	return list
}

// A session is a browser that brought the token.
type session struct {
	secret string // its forms must repeat it
	person string
	last   []change // the latest last
	used   time.Time
}

// A change is a decision that undo can take back.
type change struct {
	table  string
	pair   Pair
	before Decision // Verdict is None for none
	what   string
}

const (
	maxSessions = 1000
	maxChanges  = 1000
	maxNote     = 1000
	maxPerson   = 60
	lifetime    = 30 * 24 * time.Hour
)

// begin opens a session. If there are too many, it ends the session unused for longest.
func (s *server) begin() string {
	name := rand.Text()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.sessions) >= maxSessions {
		oldest := ""
		for n, x := range s.sessions {
			if oldest == "" || x.used.Before(s.sessions[oldest].used) {
				oldest = n
			}
		}
		delete(s.sessions, oldest)
	}
	s.sessions[name] = &session{secret: rand.Text(), person: s.config.Person, used: time.Now()}
	return name
}

// clean returns a name or note in the form in which it is kept.
func clean(text string, limit int) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))), " ")
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit])
	}
	return text
}
