package sqlext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/cluster"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// Clusters that are kept are those of the linkage single, which a checkin can follow without
// a look at the rest of the table. A line for each row that resembles another has the component,
// which is everything that pairs link, and the cluster. The clusters of a component are one,
// unless people called two of its rows distinct. Components with more rows than the option says
// have no cluster, and one number for all of them, so that a checkin need not renumber or
// search through very many rows.

// defaultCluster is the limit on the rows of a cluster unless the option clusters says it, and
// maxCluster the largest limit that it can say.
const (
	defaultCluster = 1000
	maxCluster     = 1000000
)

// crowded is the number of all components with more rows than a cluster may have.
const crowded = -1

// clusterLimit is the option clusters: how many rows a cluster may have, or 0 for none that
// are kept.
type clusterLimit struct {
	given bool
	max   int
}

func (l *clusterLimit) UnmarshalJSON(text []byte) error {
	*l = clusterLimit{given: true}
	switch string(text) {
	case "true":
		l.max = defaultCluster
		return nil
	case "false":
		return nil
	}
	var limit float64
	if _, err := fmt.Sscan(string(text), &limit); err != nil || limit < 2 || limit > maxCluster || limit != float64(int(limit)) {
		return errors.New("no number of rows")
	}
	l.max = int(limit)
	return nil
}

// keptClusters are the clusters of one attachment while they are changed.
type keptClusters struct {
	c     *conn
	a     *attachment
	judge *judge
}

// namedByTrigger returns the attachments with the name in a trigger's arguments, of those with
// the stamp there if there are any. Copies of a database have the same.
func (c *conn) namedByTrigger(args []sqlite.Value) ([]*attachment, error) {
	schemas, err := c.schemas()
	if err != nil {
		return nil, err
	}
	var named, stamped []*attachment
	for _, schema := range schemas {
		found, err := c.attachments(schema, inUseByName, args[0].Text())
		if err != nil {
			return nil, err
		}
		for _, a := range found {
			named = append(named, a)
			if a.stamp == args[1].Int() {
				stamped = append(stamped, a)
			}
		}
	}
	if len(stamped) > 0 {
		return stamped, nil
	}
	return named, nil
}

// ofTrigger finds the attachment of a trigger by the name and the stamp in its arguments.
func (c *conn) ofTrigger(args []sqlite.Value, does string) (*attachment, error) {
	named, err := c.namedByTrigger(args)
	if err != nil {
		return nil, err
	}
	switch {
	case len(named) == 0:
		return nil, &notAttached{name: args[0].Text()}
	case len(named) > 1:
		return nil, fmt.Errorf("%s and %s both %s of %s, and a trigger does not tell which is meant; detach one of the databases", named[0].schema, named[1].schema, does, named[0].Name)
	}
	return named[0], named[0].broken
}

// keptClusters finds the clusters of a trigger; they are nil while they wait to be computed
// afresh.
func (c *conn) keptClusters(args []sqlite.Value) (*keptClusters, error) {
	a, err := c.ofTrigger(args, "keep the clusters")
	if err != nil || a.Clusters == 0 || a.State != stateReady || a.elsewhere() || a.waits {
		return nil, err
	}
	return c.clustersOf(a)
}

func (c *conn) clustersOf(a *attachment) (*keptClusters, error) {
	j, err := c.judge(a, false)
	return &keptClusters{c, a, j}, err
}

// leave is alike__leave: a row leaves its component while its sketch is still what it was.
func leave(c *conn, f *sqlite.Call) error {
	args := f.Args()
	k, err := c.keptClusters(args)
	if k == nil || err != nil {
		return err
	}
	touched, err := k.leave(args[2].Int())
	if err != nil {
		return err
	}
	back := int64(0) // whether the row joins at once, when what it left is settled
	if args[3].Int() == 0 {
		back = 1
	} else if k.a.Where != "" { // under a condition a row that changes is removed first
		if back, err = k.number("is_attached", args[2].Int()); err != nil {
			return err
		}
	}
	if back == 0 {
		return k.settle(touched)
	}
	c.left = touched
	return nil
}

// join is alike__join: a row whose sketch is new joins what it resembles.
func join(c *conn, f *sqlite.Call) error {
	args := f.Args()
	k, err := c.keptClusters(args)
	if k == nil || err != nil {
		return err
	}
	touched := c.left
	c.left = nil
	joined, err := k.join(args[2].Int())
	if err != nil {
		return err
	}
	return k.settle(append(touched, joined...))
}

// number runs a statement that gives one number.
func (k *keptClusters) number(name string, args ...any) (n int64, err error) {
	err = k.each(name, func(row []sqlite.Value) { n = row[0].Int() }, args...)
	return n, err
}

func (k *keptClusters) each(name string, row func([]sqlite.Value), args ...any) error {
	return k.c.each(k.a, name, func(r []sqlite.Value) error { row(r); return nil }, args...)
}

func (k *keptClusters) run(name string, args ...any) error {
	return k.each(name, func([]sqlite.Value) {}, args...)
}

// line is a row's line and its component, which is 0 where it has none.
func (k *keptClusters) line(row int64) (line, component int64, err error) {
	err = k.each("line_of_row", func(r []sqlite.Value) { line, component = r[0].Int(), r[1].Int() }, row)
	return line, component, err
}

// fetch gives the key of a row, nil if there is none, and whether its sketch is damaged.
func (k *keptClusters) fetch(row int64) (key []any, damaged bool, err error) {
	err = k.each("fetch", func(r []sqlite.Value) {
		key, damaged = sqlite.Copies(r[:len(k.a.Keys)]), sketch.Check(r[len(k.a.Keys)].Bytes()) != nil
	}, row)
	return key, damaged, err
}

// neighbours are the rows that resemble a row.
func (k *keptClusters) neighbours(row int64) ([]answer, error) {
	key, _, err := k.fetch(row)
	if err != nil || key == nil {
		return nil, err
	}
	return k.resembling(key)
}

// resembling are the rows that resemble the row with a key.
func (k *keptClusters) resembling(key []any) ([]answer, error) {
	o, err := k.c.subject(k.a, key)
	if o == nil || err != nil {
		return nil, err
	}
	o.checkin = true
	return k.c.nearest(k.a, k.judge, o, k.a.threshold(), -1)
}

// inside are those of some neighbours that are in a component.
func (k *keptClusters) inside(component int64, list []answer) (rows []int64, err error) {
	for _, x := range list {
		if _, of, err := k.line(x.row); err != nil {
			return nil, err
		} else if of == component {
			rows = append(rows, x.row)
		}
	}
	return rows, nil
}

// candidates are the rows of a component that share a feature with a row or were called its
// duplicates: those that it resembles are among them.
func (k *keptClusters) candidates(row int64, key []any, component int64) ([]int64, error) {
	o, err := k.c.anySubject(k.a, key)
	if o == nil || err != nil {
		return nil, err
	}
	found := map[int64]bool{}
	if err := k.each("probe", func(r []sqlite.Value) { found[r[0].Int()] = r[0].Int() != row }, o.features...); err != nil {
		return nil, err
	}
	for other, duplicate := range o.verdicts {
		found[other] = duplicate
	}
	var rows []int64
	for other, candidate := range found {
		if !candidate {
			continue
		}
		if _, of, err := k.line(other); err != nil {
			return nil, err
		} else if of == component {
			rows = append(rows, other)
		}
	}
	slices.Sort(rows)
	return rows, nil
}

// seeds are the rows of a component that the row may have linked.
func (k *keptClusters) seeds(row, component int64) ([]int64, error) {
	key, damaged, err := k.fetch(row)
	if err != nil || key == nil {
		return nil, err
	}
	if damaged || k.a.Verify == "text" { // the text is gone
		return k.candidates(row, key, component)
	}
	list, err := k.resembling(key)
	if err != nil {
		return nil, err
	}
	return k.inside(component, list)
}

// leave takes a row out of its component, and gives the components that this touched. Every
// part that the component falls into has a neighbour of the row. From one of them the rest is
// looked for; a part from which it cannot be reached becomes a component of its own. Of a
// crowded component so does a part that is not crowded.
func (k *keptClusters) leave(row int64) ([]int64, error) {
	line, component, err := k.line(row)
	if err != nil || component == 0 {
		return nil, err
	}
	seeds, err := k.seeds(row, component)
	if err != nil {
		return nil, err
	}
	if err := k.run("move_line", line, nil); err != nil {
		return nil, err
	}
	touched := []int64{component}
	for len(seeds) > 1 || component == crowded && len(seeds) > 0 {
		reached, whole, err := k.reach(seeds, component)
		if err != nil {
			return nil, err
		}
		seeds = slices.DeleteFunc(seeds, func(x int64) bool { return reached[x] })
		if !whole {
			continue
		}
		part, err := k.number("next_component")
		if err != nil {
			return nil, err
		}
		for x := range reached {
			if err := k.run("put_line", x, part); err != nil {
				return nil, err
			}
		}
		touched = append(touched, part)
	}
	return touched, nil
}

// reach follows the links from the first of some rows of a component until it has reached
// all of them, or in a crowded component more rows than a cluster may have. If there is
// no more to reach before, these rows are a component by themselves: a whole.
func (k *keptClusters) reach(seeds []int64, component int64) (reached map[int64]bool, whole bool, err error) {
	missing := map[int64]bool{}
	for _, x := range seeds {
		missing[x] = true
	}
	reached = map[int64]bool{}
	var rows []int64 // in the order in which they were reached
	enough := func() bool {
		if component == crowded {
			return len(rows) > k.a.Clusters
		}
		return len(missing) == 0
	}
	add := func(x int64) {
		if !reached[x] {
			reached[x] = true
			rows = append(rows, x)
			delete(missing, x)
		}
	}
	add(seeds[0])
	for n := 0; n < len(rows) && !enough(); n++ {
		list, err := k.neighbours(rows[n])
		if err != nil {
			return nil, false, err
		}
		more, err := k.inside(component, list)
		if err != nil {
			return nil, false, err
		}
		for _, x := range more {
			add(x)
		}
	}
	return reached, !enough(), nil
}

// join puts a row and what it resembles into one component: that with the most rows, unless
// they are a crowd together.
func (k *keptClusters) join(row int64) ([]int64, error) {
	list, err := k.neighbours(row)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	var components, alone []int64
	for _, x := range append(list, answer{row: row}) {
		_, component, err := k.line(x.row)
		if err != nil {
			return nil, err
		}
		if component == 0 {
			alone = append(alone, x.row)
		} else if !slices.Contains(components, component) {
			components = append(components, component)
		}
	}
	into, err := k.largest(components, len(alone))
	if err != nil {
		return nil, err
	}
	for _, component := range components {
		if component != into {
			if err := k.run("unite", into, component); err != nil {
				return nil, err
			}
		}
	}
	for _, x := range alone {
		if err := k.run("put_line", x, into); err != nil {
			return nil, err
		}
	}
	return []int64{into}, nil
}

// largest is the component that takes in others and more rows.
func (k *keptClusters) largest(components []int64, rows int) (into int64, err error) {
	greatest := int64(0)
	for _, component := range components {
		size := int64(k.a.Clusters) + 1
		if component != crowded {
			if size, err = k.number("size_of_component", component); err != nil {
				return 0, err
			}
		}
		if rows += int(size); size > greatest || size == greatest && component < into {
			into, greatest = component, size
		}
	}
	switch {
	case rows > k.a.Clusters:
		return crowded, nil
	case into == 0:
		return k.number("next_component")
	}
	return into, nil
}

// clusterLine is a line that is settled: its cluster until now and from now on, 0 for none.
type clusterLine struct {
	line, component, old, cluster int64
	part                          int // of the component, that which makes a cluster; negative for none
}

// settle gives the rows of touched components their clusters, and tells what changed.
func (k *keptClusters) settle(touched []int64) error {
	slices.Sort(touched)
	var lines []clusterLine
	for _, component := range slices.Compact(touched) {
		more, err := k.parts(component)
		if err != nil {
			return err
		}
		lines = append(lines, more...)
	}
	if err := k.each("lines_of_component", func(r []sqlite.Value) {
		lines = append(lines, clusterLine{line: r[0].Int(), old: r[1].Int(), part: -1})
	}, nil); err != nil {
		return err
	}
	made, err := k.nameClusters(lines)
	if err != nil {
		return err
	}
	if err := k.tell(lines, made); err != nil {
		return err
	}
	for _, x := range lines {
		switch {
		case x.component == 0:
			err = k.run("remove_line", x.line)
		case x.cluster == 0 && x.old != 0:
			err = k.run("give_cluster", x.line, nil)
		case x.cluster != x.old:
			err = k.run("give_cluster", x.line, x.cluster)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parts are the lines of a component. Of a crowded one they are those that are in a cluster, and
// leave it.
func (k *keptClusters) parts(component int64) (lines []clusterLine, err error) {
	read := func(r []sqlite.Value) {
		lines = append(lines, clusterLine{line: r[0].Int(), component: component, old: r[1].Int()})
	}
	if component == crowded {
		err := k.each("clustered_lines", read, component)
		for i := range lines {
			lines[i].part = -1
		}
		return lines, err
	}
	if err := k.each("lines_of_component", read, component); err != nil {
		return nil, err
	}
	if len(lines) == 1 {
		lines[0].component, lines[0].part = 0, -1
		return lines, nil
	}
	judged, err := k.number("any_mark")
	if err != nil || judged == 0 {
		return lines, err
	}
	return lines, k.divide(component, lines)
}

// divide finds the clusters of a component in which people may have called rows distinct.
func (k *keptClusters) divide(component int64, lines []clusterLine) error {
	marks := map[[2]int64]bool{}
	divided := false
	if err := k.each("marks_of_component", func(r []sqlite.Value) {
		marks[[2]int64{r[0].Int(), r[1].Int()}] = r[2].Int() != 0
		divided = divided || r[2].Int() == 0
	}, component); err != nil || !divided {
		return err
	}
	rows := &numbered{}
	if err := k.each("rows_of_component", func(r []sqlite.Value) { rows.list = append(rows.list, r[0].Int()) }, component); err != nil {
		return err
	}
	rows.sort()
	linker, err := cluster.NewLinker(cluster.LinkerOptions{Linkage: cluster.Single, Documents: len(rows.list), Memory: clusterMemory})
	if err != nil {
		return err
	}
	defer linker.Close()
	for pair, duplicate := range marks {
		i, there := rows.number(pair[0])
		j, too := rows.number(pair[1])
		if there && too {
			linker.Mark(i, j, duplicate)
		}
	}
	known := map[[2]int]bool{}
	for i, row := range rows.list {
		list, err := k.neighbours(row)
		if err != nil {
			return err
		}
		for _, x := range list {
			j, there := rows.number(x.row)
			// In the layout parts the row of the checkin finds others before they find it.
			if pair := [2]int{min(i, j), max(i, j)}; there && !known[pair] {
				known[pair] = true
				if err := linker.Pair(pair[0], pair[1], x.bounds.Estimate); err != nil {
					return err
				}
			}
		}
	}
	parts := map[int64]int{}
	if err := linker.Clusters(context.Background(), func(i, first, size int) error {
		line, _, err := k.line(rows.list[i])
		if parts[line] = first; size == 1 {
			parts[line] = -1
		}
		return err
	}); err != nil {
		return err
	}
	for i := range lines {
		lines[i].part = parts[lines[i].line]
	}
	return nil
}

// nameClusters gives each part of a component the number of the cluster that most of its rows
// were in; where several parts would take it, that with the most of them has it.
func (k *keptClusters) nameClusters(lines []clusterLine) (made []int64, err error) {
	type part struct {
		component int64
		part      int
	}
	type claim struct {
		part
		old  int64
		rows int
	}
	counts := map[claim]int{}
	numbers := map[part]int64{}
	var parts []part
	for _, x := range lines {
		if x.part < 0 {
			continue
		}
		p := part{x.component, x.part}
		if _, known := numbers[p]; !known {
			numbers[p] = 0
			parts = append(parts, p)
		}
		if x.old != 0 {
			counts[claim{part: p, old: x.old}]++
		}
	}
	var claims []claim
	for c, n := range counts {
		c.rows = n
		claims = append(claims, c)
	}
	slices.SortFunc(claims, func(x, y claim) int {
		return cmp.Or(cmp.Compare(y.rows, x.rows), cmp.Compare(x.component, y.component), cmp.Compare(x.part.part, y.part.part), cmp.Compare(x.old, y.old))
	})
	taken := map[int64]bool{}
	for _, c := range claims {
		if numbers[c.part] == 0 && !taken[c.old] {
			numbers[c.part], taken[c.old] = c.old, true
		}
	}
	slices.SortFunc(parts, func(x, y part) int { return cmp.Or(cmp.Compare(x.component, y.component), cmp.Compare(x.part, y.part)) })
	for _, p := range parts {
		if numbers[p] != 0 {
			continue
		}
		if err := k.run("make_cluster"); err != nil {
			return nil, err
		}
		if numbers[p], err = k.number("made_cluster"); err != nil {
			return nil, err
		}
		if err := k.run("name_cluster", numbers[p]); err != nil {
			return nil, err
		}
		made = append(made, numbers[p])
	}
	for i, x := range lines {
		if x.part >= 0 {
			lines[i].cluster = numbers[part{x.component, x.part}]
		}
	}
	return made, nil
}

// tell writes what became of clusters, in an order that can be followed line by line: rows go,
// new clusters are there already, whole clusters join others, rows move, rows join, clusters go.
func (k *keptClusters) tell(lines []clusterLine, made []int64) error {
	into := map[int64][]int64{} // where the rows of a cluster are now
	var olds []int64
	for _, x := range lines {
		if x.old == 0 {
			continue
		}
		if _, known := into[x.old]; !known {
			into[x.old], olds = nil, append(olds, x.old)
		}
		if x.cluster != 0 && !slices.Contains(into[x.old], x.cluster) {
			into[x.old] = append(into[x.old], x.cluster)
		}
	}
	slices.Sort(olds)
	stays := func(old int64) bool { return slices.Contains(into[old], old) }
	joins := func(old int64) bool { return !stays(old) && len(into[old]) == 1 }
	rows := func(event string, of func(x clusterLine) (cluster, other int64)) error {
		for _, x := range lines {
			if cluster, other := of(x); cluster != 0 {
				if err := k.run("tell_of_line", event, cluster, orNull(other), x.line); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := rows("gone", func(x clusterLine) (int64, int64) {
		if x.old != 0 && x.cluster == 0 && (stays(x.old) || joins(x.old)) {
			return x.old, 0
		}
		return 0, 0
	}); err != nil {
		return err
	}
	for _, old := range olds {
		if joins(old) {
			if err := k.run("tell", "joined", into[old][0], old); err != nil {
				return err
			}
		}
	}
	if err := rows("split", func(x clusterLine) (int64, int64) {
		if x.old != 0 && x.cluster != 0 && x.cluster != x.old && !joins(x.old) {
			return x.cluster, x.old
		}
		return 0, 0
	}); err != nil {
		return err
	}
	if err := rows("joined", func(x clusterLine) (int64, int64) {
		if x.old == 0 {
			return x.cluster, 0
		}
		return 0, 0
	}); err != nil {
		return err
	}
	for _, old := range olds {
		if !stays(old) && !joins(old) {
			if err := k.run("tell", "gone", old, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// orNull is a value for SQL, where 0 is none.
func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// changeClusters does what changes how two rows are linked.
func (c *conn) changeClusters(a *attachment, rows []int64, change func() error) error {
	if a.Clusters == 0 || a.State != stateReady || a.elsewhere() || a.waits {
		return change()
	}
	k, err := c.clustersOf(a)
	if err != nil {
		return err
	}
	var touched []int64
	for _, row := range rows {
		more, err := k.leave(row)
		if err != nil {
			return err
		}
		touched = append(touched, more...)
	}
	if err := change(); err != nil {
		return err
	}
	for _, row := range rows {
		more, err := k.join(row)
		if err != nil {
			return err
		}
		touched = append(touched, more...)
	}
	return k.settle(touched)
}

// writeClusters is alike_write_clusters.
func writeClusters(c *conn, f *sqlite.Call) error {
	a, err := c.find(&f.Args()[0])
	if err != nil {
		return err
	}
	if a.Clusters == 0 {
		return fmt.Errorf("%s keeps no clusters; alike_attach with the option clusters makes it keep them", a.Name)
	}
	n, err := c.writeClusters(a)
	f.SetInt(n)
	return err
}

// writeClusters computes the clusters that are kept afresh. From then on checkins keep them;
// until then, and after a fill that did not come so far, they would start from wrong ones.
func (c *conn) writeClusters(a *attachment) (n int64, err error) {
	k, err := c.clustersOf(a)
	if err != nil {
		return 0, err
	}
	err = c.Atomically(func() error {
		rows, err := c.numberRows(a, a.sql("ranked_by_key"))
		if err != nil {
			return err
		}
		linker, err := c.linkPairs(a, limit{atLeast: a.threshold()}, cluster.LinkerOptions{Linkage: cluster.Single}, rows, allLinks)
		if err != nil {
			return err
		}
		defer linker.Close()
		if err := k.run("scatter"); err != nil {
			return err
		}
		var touched []int64
		if err := linker.Clusters(context.Background(), func(i, first, size int) error {
			if size == 1 {
				return nil
			}
			component := int64(first) + 1
			if size > a.Clusters {
				component = crowded
			}
			if i == first {
				touched = append(touched, component)
			}
			return k.run("put_line", rows.list[i], component)
		}); err != nil {
			return err
		}
		if err := k.settle(touched); err != nil {
			return err
		}
		if err := c.Run(a.sql("clusters_follow"), nil, a.Name); err != nil {
			return err
		}
		n, err = k.number("count_clustered")
		return err
	})
	return n, err
}

// checkClusterKeys refuses a key whose columns have names of the tables of clusters.
func (a *attachment) checkClusterKeys() error {
	for _, taken := range []string{"component", "cluster", "clustered_at", "event_id", "event", "other", "happened_at"} {
		if a.Clusters > 0 && slices.ContainsFunc(a.Keys, func(k key) bool { return strings.EqualFold(k.Name, taken) }) {
			return fmt.Errorf("%s keeps no clusters: the key column %q has the name of a column of theirs", a.Name, taken)
		}
	}
	return nil
}
