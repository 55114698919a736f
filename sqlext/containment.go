package sqlext

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"unsafe"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// containedFrom is the containment from which a row counts as contained when a question
// gives no limit.
const containedFrom = 0.8

// passages implements alike__passages: the values sampled from the passages of a document,
// as a JSON array.
func passages(c *conn, f *sqlite.Call) error {
	a := f.Args()
	s, err := c.rowSettings(&a[1])
	if err != nil {
		return err
	}
	values, _, err := s.passageValues(c, a[0].Bytes())
	if err != nil {
		return err
	}
	text := append(f.Scratch(), '[')
	for i, v := range values {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, v, 10)
	}
	f.SetBytes(sqlite.Text, append(text, ']'))
	return nil
}

// containsPlan implements alike_contains_plan.
func containsPlan(c *conn, a []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	tokens, ok := a[0].Number()
	if !ok {
		return nil, fmt.Errorf("the number of tokens is %s, want a number", a[0].Describe())
	}
	s, err := c.sketcher(argument(a, 1))
	if err != nil {
		return nil, err
	}
	keyBytes := 4
	if !a[2].Null() {
		if keyBytes, err = a[2].Whole("the key's size"); err != nil {
			return nil, err
		}
	}
	plan, err := sketch.PlanPassages(s.Profile(), tokens, keyBytes)
	return sqlite.Rows(1, func(b *sqlite.Batch, cells []sqlite.Value, _ int) {
		cells[0].SetInt(int64(plan.Passage))
		cells[1].SetFloat(plan.Sampled)
		cells[2].SetInt(plan.SQLite)
		cells[3].SetInt(plan.Postgres)
	}), err
}

func (s *rowSettings) passageValues(c *conn, document []byte) ([]int64, int64, error) {
	if s.passages == nil {
		var err error
		if s.passages, err = sketch.NewPassages(s.row.Profile()); err != nil {
			return nil, 0, err
		}
		s.passages.Stop = c.Interrupted
	}
	return s.passages.Values(s.document(document))
}

// keepValues makes and fills the table of values of an attachment that has the option
// contains.
func (c *conn) keepValues(a *attachment, anew bool) error {
	there, err := c.hasTable(a.schema, (&attachment{Name: a.Name}).object("value"))
	if err != nil {
		return err
	}
	switch {
	case !a.Contains, there && !anew:
		return nil // dropLeftovers drops a table that is not wanted
	case there:
		if err := c.Run(a.sql("clear_values"), nil); err != nil {
			return err
		}
	default:
		if slices.ContainsFunc(a.Keys, func(k key) bool { return k.Name == "value" || k.Name == "Value" || k.Name == "VALUE" }) {
			return errors.New("the key column value has the name of a column of the table of values")
		}
		if err := c.Exec(a.statements("values")); err != nil {
			return err
		}
	}
	return c.Exec(a.statements("fill_values"))
}

// A containee is the row or text that a question on containment is about.
type containee struct {
	row      int64 // math.MinInt64 for a text
	values   []int64
	shingles int64
	text     []byte
	exact    []byte // the sketch of all its shingles
	verdicts map[int64]bool
}

// containing answers questions about containment.
type containing struct {
	c        *conn
	a        *attachment
	settings *rowSettings
	exact    *sketch.Sketcher // nil where the values alone decide
	atLeast  float64
	work     int
}

func (c *conn) containing(table, atLeast *sqlite.Value) (*containing, error) {
	a, err := c.find(table)
	if err != nil {
		return nil, err
	}
	limit := containedFrom
	if !atLeast.Null() {
		if limit, err = atLeast.Fraction("at_least"); err == nil && limit == 0 {
			err = errors.New("at_least is 0, want above 0")
		}
		if err != nil {
			return nil, err
		}
	}
	if !a.Contains {
		return nil, fmt.Errorf(`%s keeps no values for questions on containment; alike_attach(%s, %s, '{"contains": true}') adds them`, a.Name, literal(a.Table), literal(a.Column))
	}
	if a.State != stateReady {
		return nil, fmt.Errorf("the values of %s are not complete; alike_refresh(%s) completes them", a.Name, literal(a.Name))
	}
	return c.containingOf(a, limit, true)
}

func (c *conn) containingOf(a *attachment, atLeast float64, reads bool) (q *containing, err error) {
	q = &containing{c: c, a: a, atLeast: atLeast}
	if q.settings, err = c.settingsOf(a); err != nil {
		return nil, err
	}
	if _, _, err := q.settings.passageValues(c, nil); err != nil {
		return nil, err
	}
	if reads {
		q.exact, err = sketch.NewSketcher(a.profile.Passages())
	}
	return q, err
}

// ofText returns the containee for a text that is not in the table.
func (q *containing) ofText(text []byte) (*containee, error) {
	values, shingles, err := q.settings.passageValues(q.c, text)
	if err != nil {
		return nil, err
	}
	o := &containee{row: math.MinInt64, values: slices.Clone(values), shingles: shingles}
	o.text = bytes.Clone(q.settings.document(text))
	return o, nil
}

// ofRow returns the containee for a row by its number. A row without words has no values.
func (q *containing) ofRow(row int64) (*containee, error) {
	o := &containee{row: row}
	if err := q.c.each(q.a, "values_of_row", func(r []sqlite.Value) error { o.values = append(o.values, r[0].Int()); return nil }, row); err != nil {
		return nil, err
	}
	return o, q.c.each(q.a, "shingles_of_row", func(r []sqlite.Value) error { o.shingles = q.shingles(r[0].Int()); return nil }, row)
}

// shingles converts a document's number of shingles under the profile into its number of
// shingles of passages.
func (q *containing) shingles(n int64) int64 {
	return max(1, n+int64(q.a.profile.W-q.a.profile.Passages().W))
}

// ofKey returns the containee for a row by its key, with people's verdicts on it.
func (q *containing) ofKey(key []any) (*containee, error) {
	subject, err := q.c.subject(q.a, key)
	if subject == nil || err != nil {
		return nil, err
	}
	o, err := q.ofRow(subject.row)
	if err == nil {
		o.verdicts = subject.verdicts
	}
	return o, err
}

// sharer is a row that has values in common with another.
type sharer struct {
	row, shingles int64
	matches       int
}

// commonRows is how many rows share a value that is common. A common value belongs to
// boilerplate more often than to a passage that is looked for.
const commonRows = 200

// sharing finds the rows that share values with o, which contain it or are contained in it.
func (q *containing) sharing(o *containee) ([]sharer, error) {
	return q.sharers(o, map[int64]*sharer{}, o.values)
}

// mayContain finds the rows that share enough values with o to contain it. Such a row has one of
// the rarest values of o at least; so common values are looked up only where o has few others.
func (q *containing) mayContain(o *containee) ([]sharer, error) {
	rows, err := q.rowsOfValues(o.values)
	if err != nil || !slices.ContainsFunc(rows, isCommon) {
		return q.sharers(o, map[int64]*sharer{}, o.values)
	}
	slices.SortFunc(rows, func(x, y valueRows) int { return cmp.Or(cmp.Compare(x.rows, y.rows), cmp.Compare(x.value, y.value)) })
	// A container of millions of words keeps coarser values only: it has one of the rarest of those.
	// Where these are common it is not looked for, since the rows that have them may be very many.
	first := map[int64]bool{}
	own := q.settings.passages.Coarseness(o.shingles)
	for coarseness, kept := own, rows; len(kept) > 0 && coarseness < 64; coarseness++ {
		for _, x := range kept[:len(kept)-max(1, q.minShared(len(kept)))+1] {
			if !isCommon(x) {
				first[x.value] = true
			} else if coarseness == own {
				return q.sharing(o)
			}
		}
		kept = slices.DeleteFunc(slices.Clone(kept), func(x valueRows) bool { return x.value>>coarseness&1 != 0 })
	}
	var rarest, others []int64
	for _, v := range o.values {
		if first[v] {
			rarest = append(rarest, v)
		} else {
			others = append(others, v)
		}
	}
	found := map[int64]*sharer{}
	if _, err := q.sharers(o, found, rarest); err != nil {
		return nil, err
	}
	return q.countIn(found, others)
}

// least is how many of n values a row shares at least that contains their document.
func (q *containing) minShared(n int) int {
	return sort.Search(n, func(m int) bool {
		i, err := sketch.PassageContainment(m, n, confidence)
		return err == nil && i.Estimate >= q.atLeast || q.exact != nil && i.High >= q.atLeast
	})
}

// firstSharing is sharing for a checkin, whose cost must not grow with the table: of the
// rows that share a common value it finds the first.
func (q *containing) firstSharing(o *containee) ([]sharer, error) {
	rows, err := q.rowsOfValues(o.values)
	if err != nil {
		return nil, err
	}
	var rare, shared []int64
	for _, x := range rows {
		if isCommon(x) {
			shared = append(shared, x.value)
		} else {
			rare = append(rare, x.value)
		}
	}
	found := map[int64]*sharer{}
	list, err := q.sharers(o, found, rare)
	if err != nil || len(shared) == 0 {
		return list, err
	}
	s, err := q.c.ask(q.a, "first_rows_with_value", "")
	if err != nil {
		return nil, err
	}
	defer s.Done()
	for _, value := range shared {
		s.Reset()
		if err := s.Each(func(r []sqlite.Value) error {
			if row := r[0].Int(); found[row] == nil && !o.excludes(row) {
				found[row] = &sharer{row: row, shingles: q.shingles(r[1].Int())}
			}
			return nil
		}, value, commonRows); err != nil {
			return nil, err
		}
	}
	return q.countIn(found, shared)
}

// valueRows is a value and how many rows have it, counted no further than common.
type valueRows struct{ value, rows int64 }

func isCommon(x valueRows) bool { return x.rows > commonRows }

func (q *containing) rowsOfValues(values []int64) (list []valueRows, err error) {
	err = q.c.each(q.a, "rows_of_values", func(r []sqlite.Value) error {
		list = append(list, valueRows{r[0].Int(), r[1].Int()})
		return nil
	}, asBlob(values), commonRows+1)
	return list, err
}

// sharers adds the rows that share some of the values to those that are found, and lists all.
func (q *containing) sharers(o *containee, found map[int64]*sharer, values []int64) ([]sharer, error) {
	if len(values) == 0 {
		return nil, nil
	}
	err := q.c.each(q.a, "rows_with_values", func(r []sqlite.Value) error {
		if row := r[0].Int(); !o.excludes(row) {
			found[row] = &sharer{row, q.shingles(r[2].Int()), int(r[1].Int())}
		}
		return nil
	}, asBlob(values))
	return inOrder(found), err
}

// countIn adds to the matches of the rows how many of more values each has.
func (q *containing) countIn(found map[int64]*sharer, values []int64) ([]sharer, error) {
	list := inOrder(found)
	if len(values) == 0 {
		return list, nil
	}
	s, err := q.c.ask(q.a, "values_in_row", "")
	if err != nil {
		return nil, err
	}
	defer s.Done()
	for i := range list {
		if i&255 == 255 {
			if err := q.c.Interrupted(); err != nil {
				return nil, err
			}
		}
		s.Reset()
		if err := s.Each(func(r []sqlite.Value) error { list[i].matches += int(r[0].Int()); return nil }, asBlob(values), list[i].row); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func inOrder(found map[int64]*sharer) []sharer {
	list := make([]sharer, 0, len(found))
	for _, x := range found {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(x, y sharer) int { return cmp.Compare(x.row, y.row) })
	return list
}

// asBlob is the argument of alike__list.
func asBlob(values []int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 8*len(values))
}

// excludes tells whether a row is o itself, or was called distinct from it.
func (o *containee) excludes(row int64) bool {
	duplicate, judged := o.verdicts[row]
	return row == o.row || judged && !duplicate
}

// within counts the values of o that a document with that many shingles would keep, too: a
// long document keeps coarser values only.
func (q *containing) within(o *containee, shingles int64) int {
	coarseness := q.settings.passages.Coarseness(shingles)
	if coarseness <= q.settings.passages.Coarseness(o.shingles) {
		return len(o.values)
	}
	n := 0
	for _, v := range o.values {
		if v&(1<<coarseness-1) == 0 {
			n++
		}
	}
	return n
}

// held is a row that is contained in another, or contains it.
type held struct {
	row    int64
	bounds sketch.Interval
}

// containers finds the rows that contain o, best first.
func (q *containing) containers(o *containee) ([]held, error) {
	rows, err := q.mayContain(o)
	if err != nil {
		return nil, err
	}
	return q.containersAmong(rows, o)
}

func (q *containing) containersAmong(rows []sharer, o *containee) ([]held, error) {
	return q.hold(rows, func(x sharer) (held, bool, error) {
		return q.judge(x.row, x.matches, q.within(o, x.shingles), o, &containee{row: x.row})
	})
}

// contained finds the rows that are contained in o, best first.
func (q *containing) contained(o *containee) ([]held, error) {
	rows, err := q.sharing(o)
	if err != nil {
		return nil, err
	}
	return q.containedAmong(rows, o)
}

func (q *containing) containedAmong(rows []sharer, o *containee) ([]held, error) {
	return q.hold(rows, func(x sharer) (held, bool, error) {
		part, err := q.ofRow(x.row)
		if err != nil {
			return held{}, false, err
		}
		return q.judge(x.row, x.matches, q.within(part, o.shingles), part, o)
	})
}

func (q *containing) hold(rows []sharer, judge func(sharer) (held, bool, error)) ([]held, error) {
	var list []held
	for _, x := range rows {
		if q.work++; q.work&255 == 0 {
			if err := q.c.Interrupted(); err != nil {
				return nil, err
			}
		}
		h, ok, err := judge(x)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(x, y held) int {
		return cmp.Or(cmp.Compare(y.bounds.Estimate, x.bounds.Estimate), cmp.Compare(x.row, y.row))
	})
	return list, nil
}

// judge decides whether part is contained in whole, by the values that they share. Where
// the bounds leave that open, the texts decide.
func (q *containing) judge(row int64, matches, values int, part, whole *containee) (held, bool, error) {
	i, err := sketch.PassageContainment(min(matches, values), values, confidence)
	if err != nil || values == 0 || i.High < q.atLeast {
		return held{}, false, err
	}
	if i.Low < q.atLeast && q.exact != nil {
		r, ok, err := q.exactly(part, whole)
		if err != nil {
			return held{}, false, err
		}
		if ok {
			i = sketch.Interval{Low: r, Estimate: r, High: r}
		}
	}
	return held{row, i}, i.Estimate >= q.atLeast, nil
}

// exactly computes the containment of part in whole from their texts. ok is false when a
// text has changed since it was sketched or has no words.
func (q *containing) exactly(part, whole *containee) (ratio float64, ok bool, err error) {
	x, err := q.all(part)
	if err != nil || x == nil {
		return 0, false, err
	}
	y, err := q.all(whole)
	if err != nil || y == nil {
		return 0, false, err
	}
	return sketch.Containment(x, y)
}

// all returns the sketch of all shingles, or nil when the document has changed since it was
// sketched.
func (q *containing) all(o *containee) ([]byte, error) {
	if o.exact != nil {
		return o.exact, nil
	}
	text := o.text
	if text == nil {
		if err := q.c.each(q.a, "text", func(r []sqlite.Value) error {
			if sketched(&r[0], &r[1]) {
				text = q.settings.document(r[0].Bytes())
				err := q.exact.DocumentUntil(text, q.c.Interrupted)
				o.exact = q.exact.AppendSketch(nil)
				return err
			}
			return nil
		}, o.row); err != nil || len(o.exact) == 0 {
			return nil, err
		}
		return o.exact, nil
	}
	if err := q.exact.DocumentUntil(text, q.c.Interrupted); err != nil {
		return nil, err
	}
	o.exact = q.exact.AppendSketch(nil)
	return o.exact, nil
}

// answers returns the rows of an answer, up to the limit of the question.
func (q *containing) answers(list []held, want sqlite.Want) sqlite.Source {
	if want.Limit >= 0 && int64(len(list)) > want.Limit {
		list = list[:want.Limit]
	}
	next := 0
	return sqlite.SourceFunc(func(b *sqlite.Batch) (bool, error) {
		keys, err := q.c.keyReader(q.a)
		if err != nil {
			return false, err
		}
		defer keys.Done()
		for ; next < len(list) && !b.Full(); next++ {
			cells := b.Row()
			if err := keys.set(b, &cells[0], list[next].row); err != nil {
				return false, err
			}
			setInterval(cells[1:], list[next].bounds)
		}
		return next < len(list), nil
	})
}

func setInterval(cells []sqlite.Value, i sketch.Interval) {
	cells[0].SetFloat(i.Estimate)
	cells[1].SetFloat(i.Low)
	cells[2].SetFloat(i.High)
}

// questionOn makes the four questions about a row or a text.
func questionOn(about func(*containing, *sqlite.Value) (*containee, error), find func(*containing, *containee) ([]held, error)) func(*conn, []sqlite.Value, sqlite.Want) (sqlite.Source, error) {
	return func(c *conn, args []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
		q, err := c.containing(&args[0], &args[2])
		if err != nil || args[1].Null() {
			return nil, err
		}
		o, err := about(q, &args[1])
		if o == nil || err != nil {
			return nil, err
		}
		list, err := find(q, o)
		return q.answers(list, want), err
	}
}

func aboutText(q *containing, v *sqlite.Value) (*containee, error) { return q.ofText(v.Bytes()) }
func aboutKey(q *containing, v *sqlite.Value) (*containee, error) {
	key, err := q.a.Keys.arguments(v)
	if err != nil {
		return nil, err
	}
	return q.ofKey(key)
}

var (
	containers     = questionOn(aboutKey, (*containing).containers)
	contained      = questionOn(aboutKey, (*containing).contained)
	containersLike = questionOn(aboutText, (*containing).containers)
	containedLike  = questionOn(aboutText, (*containing).contained)
)

// containments implements alike_containments: the best first, as alike_pairs does.
func containments(c *conn, args []sqlite.Value, want sqlite.Want) (sqlite.Source, error) {
	if !want.Ordered {
		return scanContainments(c, args, want)
	}
	s, err := c.Cached("SELECT * FROM alike__containments(?1, ?2) ORDER BY containment DESC, key, other LIMIT ?3")
	if err != nil {
		return nil, err
	}
	var atLeast any = containedFrom
	if !args[1].Null() {
		atLeast = &args[1]
	}
	if err := s.Bind(&args[0], atLeast, want.Limit); err != nil {
		s.Done()
		return nil, err
	}
	return sqlite.StatementRows{Statement: s}, nil
}

// scanContainments implements alike__containments: row by row, the rows that contain each.
func scanContainments(c *conn, args []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	q, err := c.containing(&args[0], &args[1])
	if err != nil {
		return nil, err
	}
	marks, err := c.verdicts(q.a)
	if err != nil {
		return nil, err
	}
	rows, err := c.ask(q.a, "rows_in_order", "")
	if err != nil {
		return nil, err
	}
	return &containmentRows{StatementRows: sqlite.StatementRows{Statement: rows}, q: q, marks: marks}, rows.Bind()
}

type containmentRows struct {
	sqlite.StatementRows
	q     *containing
	marks map[[2]int64]bool
	row   int64
	list  []held // the rows that contain the current row and are not returned yet
}

func (r *containmentRows) Next(b *sqlite.Batch) (bool, error) {
	keys, err := r.q.c.keyReader(r.q.a)
	if err != nil {
		return false, err
	}
	defer keys.Done()
	for !b.Full() {
		if len(r.list) == 0 {
			more, err := r.Step()
			if err != nil || !more {
				return false, err
			}
			r.row = r.Columns()[0].Int()
			o, err := r.q.ofRow(r.row)
			if err != nil {
				return false, err
			}
			if r.list, err = r.q.containers(o); err != nil {
				return false, err
			}
			r.list = slices.DeleteFunc(r.list, func(h held) bool {
				duplicate, judged := r.marks[[2]int64{min(r.row, h.row), max(r.row, h.row)}]
				return judged && !duplicate
			})
			continue
		}
		cells := b.Row()
		if err := keys.set(b, &cells[0], r.row); err != nil {
			return false, err
		}
		if err := keys.set(b, &cells[1], r.list[0].row); err != nil {
			return false, err
		}
		setInterval(cells[2:], r.list[0].bounds)
		r.list = r.list[1:]
	}
	return true, nil
}
