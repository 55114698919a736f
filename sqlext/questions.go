package sqlext

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/cluster"
	"github.com/alike-sql/alike/sketch/simindex"
)

// query is the text of a statement about an attachment, made once.
func (a *attachment) query(name, item string) string {
	if text, ok := a.queries[name+item]; ok {
		return text
	}
	if a.queries == nil {
		a.queries = map[string]string{}
	}
	with := *a
	with.Item = item
	text := with.sql(name)
	a.queries[name+item] = text
	return text
}

// ask returns a kept statement about an attachment.
func (c *conn) ask(a *attachment, name, item string) (*statement, error) {
	return c.cached(a.query(name, item))
}

// keyArgs reads a key: its value, or a JSON array of the values of several
// columns. A blob is the hexadecimal string that keyText makes of it.
func (a *attachment) keyArgs(v *value) ([]any, error) {
	if len(a.Keys) == 1 {
		return []any{v}, nil
	}
	if v.kind != typeText {
		return nil, fmt.Errorf("the key is %s, want a JSON array of %d values", v.describe(), len(a.Keys))
	}
	d := json.NewDecoder(bytes.NewReader(v.bytes()))
	d.UseNumber()
	var list []any
	if err := d.Decode(&list); err != nil || len(list) != len(a.Keys) {
		return nil, fmt.Errorf("the key is %s, want a JSON array of %d values", v.describe(), len(a.Keys))
	}
	for i, part := range list {
		switch part := part.(type) {
		case json.Number:
			if n, err := part.Int64(); err == nil {
				list[i] = n
			} else if d, err := part.Float64(); err == nil {
				list[i] = d
			}
		case string:
			if digits, ok := strings.CutPrefix(part, hexadecimal); ok && a.Keys[i].blobs() {
				if b, err := hex.DecodeString(digits); err == nil {
					list[i] = b
				}
			}
		case bool, nil:
		default:
			return nil, fmt.Errorf("the key is %s, want a JSON array of plain values", v.describe())
		}
	}
	return list, nil
}

// least reads the argument at_least.
func (a *attachment) least(v *value) (float64, error) {
	if v.null() {
		return a.threshold(), nil
	}
	d, err := v.fraction("at_least")
	if err == nil && d == 0 {
		err = fmt.Errorf("at_least is 0, want above 0")
	}
	return d, err
}

// setAny puts a value of owned into a cell.
func (b *batch) setAny(cell *value, v any) {
	switch v := v.(type) {
	case int64:
		cell.setInt(v)
	case float64:
		cell.setFloat(v)
	case string:
		b.setText(cell, v)
	case []byte:
		b.setBytes(cell, typeBlob, v)
	}
}

// answer is a row that a question found.
type answer struct {
	row         int64
	key         any
	shared      int
	resemblance float64
	sketch      []byte
	bounds      sketch.Interval
	containment float64
}

// own is the row that a question is about.
type own struct {
	row      int64
	sketch   []byte
	features []any
	verdicts map[int64]bool // of people: whether another row is a duplicate
}

// ownRow reads the row of a key; it is nil when it has no sketch.
func (c *conn) ownRow(a *attachment, key []any) (*own, error) {
	s, err := c.ask(a, "own", "")
	if err != nil {
		return nil, err
	}
	defer s.done()
	var o *own
	found := false
	if err := s.each(func(row []value) error {
		found = true
		if !row[1].null() {
			o = &own{row: row[0].i, sketch: bytes.Clone(row[1].bytes()), features: owned(row[2:])}
		}
		return nil
	}, key...); err != nil {
		return nil, err
	}
	if !found {
		return nil, c.missing(a, key)
	}
	if o == nil {
		return nil, nil
	}
	v, err := c.ask(a, "verdicts", "")
	if err != nil {
		return nil, err
	}
	defer v.done()
	err = v.each(func(row []value) error {
		if o.verdicts == nil {
			o.verdicts = map[int64]bool{}
		}
		o.verdicts[row[0].i] = row[1].text() == "duplicate"
		return nil
	}, key...)
	return o, err
}

// missing explains a key without a row: nothing is wrong when the row is not
// among those attached, or waits for a refresh.
func (c *conn) missing(a *attachment, key []any) error {
	if a.Where != "" {
		return nil
	}
	found := false
	if err := c.run("SELECT 1 FROM "+a.In(a.Source())+" WHERE "+a.KeyIs("", "?"), func([]value) error {
		found = true
		return nil
	}, key...); err != nil || found {
		return err
	}
	for i := range key {
		if v, ok := key[i].(*value); ok {
			key[i] = owned([]value{*v})[0]
		}
	}
	name, err := keyText(key)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s has no row %v", a.Table, name)
}

// nearest finds the rows alike to o, best first, at most so many when limit is
// not negative. A candidate shares a feature; the sketches decide.
func (c *conn) nearest(a *attachment, o *own, least float64, limit int64) ([]answer, error) {
	probe, err := c.ask(a, "probe", "")
	if err != nil {
		return nil, err
	}
	var list []answer
	err = probe.each(func(row []value) error {
		if row[0].i != o.row {
			list = append(list, answer{row: row[0].i, shared: int(row[1].i)})
		}
		return nil
	}, o.features...)
	probe.done()
	if err != nil {
		return nil, err
	}
	for row, duplicate := range o.verdicts {
		if duplicate && !slices.ContainsFunc(list, func(x answer) bool { return x.row == row }) {
			list = append(list, answer{row: row})
		}
	}
	fetch, err := c.ask(a, "fetch", "")
	if err != nil {
		return nil, err
	}
	defer fetch.done()
	kept := list[:0]
	for i, x := range list {
		duplicate, judged := o.verdicts[x.row]
		if judged && !duplicate {
			continue
		}
		if i%1024 == 1023 {
			if err := c.interrupted(); err != nil {
				return nil, err
			}
		}
		fetch.reset()
		err := fetch.each(func(row []value) error {
			theirs := row[len(a.Keys)].bytes()
			var err error
			if x.resemblance, err = sketch.Resemblance(o.sketch, theirs); err != nil {
				return err
			}
			if x.resemblance < least && !duplicate {
				return nil
			}
			if x.key, err = keyText(owned(row[:len(a.Keys)])); err != nil {
				return err
			}
			x.sketch = bytes.Clone(theirs)
			kept = append(kept, x)
			return nil
		}, x.row)
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(kept, func(x, y answer) int {
		return cmp.Or(cmp.Compare(y.resemblance, x.resemblance), cmp.Compare(y.shared, x.shared), cmp.Compare(x.row, y.row))
	})
	if limit >= 0 && int64(len(kept)) > limit {
		kept = kept[:limit]
	}
	for i := range kept {
		if err := kept[i].judge(a, o.sketch); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// judge computes what an answer says beyond the resemblance.
func (x *answer) judge(a *attachment, mine []byte) (err error) {
	if x.bounds, err = sketch.Bounds(mine, x.sketch, confidence); err != nil {
		return err
	}
	if a.contains() {
		x.containment, err = sketch.Containment(mine, x.sketch)
	}
	return err
}

// contains tells whether the profile estimates containment.
func (a *attachment) contains() bool {
	return a.profile.Family == sketch.Mod || a.profile.Family == sketch.Scaled
}

func (c *conn) answers(a *attachment, list []answer) source {
	return rowsOf(len(list), func(b *batch, cells []value, i int) {
		x := &list[i]
		b.setAny(&cells[0], x.key)
		cells[1].setInt(int64(x.shared))
		cells[2].setFloat(x.resemblance)
		cells[3].setFloat(x.bounds.Low)
		cells[4].setFloat(x.bounds.High)
		if a.contains() {
			cells[5].setFloat(x.containment)
		}
	})
}

// rows is alike_rows.
func rows(c *conn, args []value, want wanted) (source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	least, err := a.least(&args[2])
	if err != nil || args[1].null() {
		return nil, err
	}
	key, err := a.keyArgs(&args[1])
	if err != nil {
		return nil, err
	}
	o, err := c.ownRow(a, key)
	if o == nil || err != nil {
		return nil, err
	}
	list, err := c.nearest(a, o, least, want.limit)
	return c.answers(a, list), err
}

// rowsLike is alike_rows_like.
func rowsLike(c *conn, args []value, want wanted) (source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	least, err := a.least(&args[2])
	if err != nil || args[1].null() {
		return nil, err
	}
	settings := a.RowSettings()
	s := c.rows[settings]
	if s == nil {
		if s, err = c.newRowSettings(settings); err != nil {
			return nil, err
		}
	}
	row, err := s.row.Row(0, s.document(args[1].bytes()))
	if err != nil || row.Shingles == 0 {
		return nil, err
	}
	// No row has the least of the rowids, so none is left out as the row itself.
	o := &own{row: math.MinInt64, sketch: bytes.Clone(row.Sketch), features: make([]any, a.profile.K)}
	for _, f := range row.Features {
		o.features[f.Slot] = f.Value
	}
	list, err := c.nearest(a, o, least, want.limit)
	return c.answers(a, list), err
}

// siRows is alike_si_rows.
func siRows(c *conn, args []value, want wanted) (source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	if args[2].null() {
		return nil, nil
	}
	variant, err := c.variant(&args[1])
	if err != nil {
		return nil, err
	}
	i := slices.Index(a.variants, variant)
	if i < 0 {
		return nil, fmt.Errorf("%s keeps no similarity index %s; it keeps %s", a.Name, args[1].text(), strings.Join(append([]string{}, a.SI...), ", "))
	}
	column := a.Indexes()[i]
	key, err := a.keyArgs(&args[2])
	if err != nil {
		return nil, err
	}
	var mine, row int64
	found, indexed := false, false
	if err := c.run("SELECT "+a.Row()+", "+column+" FROM "+a.In(a.Side())+" WHERE "+a.KeyIs("", "?"), func(r []value) error {
		found, indexed, row, mine = true, !r[1].null(), r[0].i, r[1].i
		return nil
	}, key...); err != nil {
		return nil, err
	}
	if !found {
		return nil, c.missing(a, key)
	}
	if !indexed {
		return nil, nil
	}
	var low, high any
	forest := variant.Kind() == simindex.Forest
	if forest {
		if !args[3].null() {
			return nil, fmt.Errorf("%s has depths instead of a fraction; leave it out", a.SI[i])
		}
		// The rows that agree in the first byte, those that agree in more first.
		first := mine &^ (1<<56 - 1)
		low, high = forestBounds(first)
	} else {
		fraction := simindex.Fraction
		if !args[3].null() {
			var ok bool
			if fraction, ok = args[3].number(); !ok || !(fraction >= 0) {
				return nil, fmt.Errorf("the fraction is %s, want a number that is not negative", args[3].describe())
			}
		}
		low, high = simindex.Low(mine, fraction), simindex.High(mine, fraction)
	}
	s, err := c.ask(a, "similar", column)
	if err != nil {
		return nil, err
	}
	defer s.done()
	type similar struct {
		key any
		si  int64
	}
	var list []similar
	if err := s.each(func(r []value) error {
		key, err := keyText(owned(r[:len(a.Keys)]))
		list = append(list, similar{key, r[len(a.Keys)].i})
		return err
	}, low, high, row); err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(x, y similar) int {
		if forest {
			return cmp.Compare(uint64(x.si^mine), uint64(y.si^mine))
		}
		return cmp.Compare(distance(x.si, mine), distance(y.si, mine))
	})
	if want.limit >= 0 && int64(len(list)) > want.limit {
		list = list[:want.limit]
	}
	return rowsOf(len(list), func(b *batch, cells []value, i int) {
		b.setAny(&cells[0], list[i].key)
		cells[1].setInt(list[i].si)
	}), nil
}

// forestBounds are the open bounds of the range of a first byte.
func forestBounds(first int64) (low, high any) {
	low, high = first-1, first+1<<56
	if first == math.MinInt64 {
		low = math.Inf(-1)
	}
	if first > math.MaxInt64-1<<56 {
		high = math.Inf(1)
	}
	return low, high
}

func distance(x, y int64) uint64 {
	if x < y {
		x, y = y, x
	}
	return uint64(x) - uint64(y)
}

// clusterMemory bounds what the clustering holds; the rest goes to files.
const clusterMemory = 64 << 20

// clusters is alike_clusters.
func clusters(c *conn, args []value, _ wanted) (source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	least, err := a.least(&args[1])
	if err != nil {
		return nil, err
	}
	marks, err := c.verdicts(a)
	if err != nil {
		return nil, err
	}
	whole, err := c.ask(a, "fetch", "")
	if err != nil {
		return nil, err
	}
	defer whole.done()
	sketchOf := func(row int64) (b []byte, err error) {
		whole.reset()
		err = whole.each(func(r []value) error {
			b = bytes.Clone(r[len(a.Keys)].bytes())
			return nil
		}, row)
		return b, err
	}
	work := 0
	finder, err := cluster.New(cluster.Options{
		Resemblance: least,
		Memory:      clusterMemory,
		Verify: func(x, y uint64) (float64, error) {
			if work++; work&1023 == 0 {
				if err := c.interrupted(); err != nil {
					return 0, err
				}
			}
			s, err := sketchOf(rowOf(x))
			if err != nil {
				return 0, err
			}
			t, err := sketchOf(rowOf(y))
			if err != nil {
				return 0, err
			}
			return sketch.Resemblance(s, t)
		},
	})
	if err != nil {
		return nil, err
	}
	defer finder.Close()
	for pair, duplicate := range marks {
		finder.Mark(idOf(pair[0]), idOf(pair[1]), duplicate)
	}
	if err := c.addAll(a, finder); err != nil {
		return nil, err
	}
	var members []cluster.Member
	sizes := map[uint64]int64{}
	if _, err := finder.Clusters(context.Background(), func(m cluster.Member) error {
		members = append(members, m)
		if m.ID != m.Cluster {
			sizes[m.Cluster]++
		}
		return nil
	}); err != nil {
		return nil, err
	}
	members = slices.DeleteFunc(members, func(m cluster.Member) bool { return sizes[m.Cluster] == 0 })
	slices.SortFunc(members, func(x, y cluster.Member) int {
		return cmp.Or(cmp.Compare(x.Cluster, y.Cluster), cmp.Compare(x.ID, y.ID))
	})
	keys, names, err := c.clusterKeys(a, members)
	if err != nil {
		return nil, err
	}
	return rowsOf(len(members), func(b *batch, cells []value, i int) {
		m := members[i]
		if keys == nil {
			cells[0].setInt(rowOf(m.ID))
			cells[1].setInt(rowOf(m.Cluster))
		} else {
			b.setAny(&cells[0], keys[i])
			b.setAny(&cells[1], names[m.Cluster])
		}
		cells[2].setInt(sizes[m.Cluster] + 1)
	}), nil
}

// A finder's ids are unsigned, in the order of the rows.
func idOf(row int64) uint64 { return uint64(row) ^ 1<<63 }
func rowOf(id uint64) int64 { return int64(id ^ 1<<63) }

// addAll gives the finder the features of every row.
func (c *conn) addAll(a *attachment, finder *cluster.Finder) error {
	s, err := c.ask(a, "all", "")
	if err != nil {
		return err
	}
	defer s.done()
	if err := s.bind(); err != nil {
		return err
	}
	n := a.profile.K + 1
	buffer := make([]int64, 1024*n)
	var list []int64
	for {
		got, err := s.scan(buffer)
		if err != nil {
			return err
		}
		for i := range got {
			row := buffer[i*n:][:n]
			list = list[:0]
			for _, f := range row[1:] {
				if f != 0 { // NULL reads as 0
					list = append(list, f)
				}
			}
			if err := finder.Add(idOf(row[0]), list); err != nil {
				return err
			}
		}
		if got < 1024 {
			return nil
		}
	}
}

// clusterKeys are the keys of clustered rows, and of each cluster the least. An
// integer key needs none: it is the row.
func (c *conn) clusterKeys(a *attachment, members []cluster.Member) (keys []any, names map[uint64]any, err error) {
	if a.KeyIsRowid {
		return nil, nil, nil
	}
	fetch, err := c.ask(a, "fetch", "")
	if err != nil {
		return nil, nil, err
	}
	defer fetch.done()
	keys, names = make([]any, len(members)), map[uint64]any{}
	for i, m := range members {
		fetch.reset()
		if err := fetch.each(func(r []value) (err error) {
			keys[i], err = keyText(owned(r[:len(a.Keys)]))
			return err
		}, rowOf(m.ID)); err != nil {
			return nil, nil, err
		}
		if name, ok := names[m.Cluster]; !ok || lessKey(keys[i], name) {
			names[m.Cluster] = keys[i]
		}
	}
	return keys, names, nil
}

// lessKey orders keys as SQLite does: numbers, text, blobs.
func lessKey(x, y any) bool {
	rank := func(v any) (int, float64, string) {
		switch v := v.(type) {
		case int64:
			return 0, float64(v), ""
		case float64:
			return 0, v, ""
		case string:
			return 1, 0, v
		case []byte:
			return 2, 0, string(v)
		}
		return -1, 0, ""
	}
	kx, nx, sx := rank(x)
	ky, ny, sy := rank(y)
	return cmp.Or(cmp.Compare(kx, ky), cmp.Compare(nx, ny), cmp.Compare(sx, sy)) < 0
}

// hotRows is how many rows must share a feature to be suspicious.
const hotRows = 10

// hot is alike_hot.
func hot(c *conn, args []value, _ wanted) (source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	type feature struct {
		slot       int
		value, row int64
		rows       int64
		key        any
	}
	var list []feature
	for i, column := range a.Features() {
		s, err := c.ask(a, "hot", column)
		if err != nil {
			return nil, err
		}
		err = s.each(func(row []value) error {
			list = append(list, feature{slot: i + 1, value: row[0].i, rows: row[1].i, row: row[2].i})
			return nil
		}, hotRows)
		s.done()
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(x, y feature) int {
		return cmp.Or(cmp.Compare(y.rows, x.rows), cmp.Compare(x.slot, y.slot), cmp.Compare(x.value, y.value))
	})
	fetch, err := c.ask(a, "fetch", "")
	if err != nil {
		return nil, err
	}
	defer fetch.done()
	for i := range list {
		fetch.reset()
		if err := fetch.each(func(r []value) (err error) {
			list[i].key, err = keyText(owned(r[:len(a.Keys)]))
			return err
		}, list[i].row); err != nil {
			return nil, err
		}
	}
	return rowsOf(len(list), func(b *batch, cells []value, i int) {
		cells[0].setInt(int64(list[i].slot))
		cells[1].setInt(list[i].value)
		cells[2].setInt(list[i].rows)
		b.setAny(&cells[3], list[i].key)
	}), nil
}
