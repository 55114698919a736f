package sqlext

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// What the option by says that a policy acts on.
const (
	byResemblance = "resemblance"
	byContainment = "containment"
)

// holding is a row that a checkin contains or that contains it.
type holding struct {
	held
	relation string // of the checkin to the row
}

// said is how a sentence says it.
func (h *holding) said() string {
	if h.relation == "contained" {
		return "is contained in"
	}
	return "contains"
}

// hold is alike__hold: it does what a policy by containment says with a row that was just
// written. Where the values leave a pair open the texts decide under the option verify alone,
// as they do for a policy by resemblance.
func hold(c *conn, f *sqlite.Call) error {
	args := f.Args()
	a, err := c.ofTrigger(args, "have a policy for the rows")
	if err != nil || a.State != stateReady || a.elsewhere() {
		return err
	}
	row := args[2].Int()
	atLeast := containedFrom
	if a.AtLeast != nil {
		atLeast = *a.AtLeast
	}
	list, err := c.holdings(a, row, atLeast)
	if err != nil || len(list) == 0 {
		return err
	}
	name := func(row int64) (key string, err error) {
		err = c.each(a, "key_of_row", func(r []sqlite.Value) error { key = r[0].String(); return nil }, row)
		return key, err
	}
	if a.Policy == "reject" {
		best := &list[0]
		other, err := name(best.row)
		if err != nil {
			return err
		}
		return &sqlite.Error{Code: sqlite.CodeConstraint, Named: true, Text: fmt.Sprintf("alike: the document %s row %s of %s (containment %.3f, rejected from %.3f)",
			best.said(), other, a.Name, best.bounds.Estimate, atLeast)}
	}
	itself, err := name(row)
	if err != nil {
		return err
	}
	omitted := max(0, len(list)-a.Matches)
	list = list[:len(list)-omitted]
	for i := range list {
		h := &list[i]
		if err := c.each(a, "record_held", nil, row, h.row, h.bounds.Estimate, h.bounds.Low, h.bounds.High, omitted, h.relation); err != nil {
			return err
		}
		if a.Policy != "warn" {
			continue
		}
		other, err := name(h.row)
		if err != nil {
			return err
		}
		more := 0
		if i == len(list)-1 {
			more = omitted
		}
		logMatch(fmt.Sprintf("alike: row %s of %s %s row %s (containment %.3f)", itself, a.Name, h.said(), other, h.bounds.Estimate), int64(more))
	}
	return nil
}

// holdings finds the rows that contain a row or are contained in it, each once, by the greater
// containment, best first.
func (c *conn) holdings(a *attachment, row int64, atLeast float64) ([]holding, error) {
	q, err := c.containingOf(a, atLeast, a.Verify == "text")
	if err != nil {
		return nil, err
	}
	var key []any
	if err := c.each(a, "fetch", func(r []sqlite.Value) error { key = sqlite.Copies(r[:len(a.Keys)]); return nil }, row); err != nil || key == nil {
		return nil, err
	}
	o, err := q.ofKey(key)
	if o == nil || err != nil {
		return nil, err
	}
	rows, err := q.firstSharing(o)
	if err != nil {
		return nil, err
	}
	var list []holding
	for _, way := range []struct {
		relation string
		among    func([]sharer, *containee) ([]held, error)
	}{{"contained", q.containersAmong}, {"contains", q.containedAmong}} {
		found, err := way.among(rows, o)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			list = append(list, holding{h, way.relation})
		}
	}
	slices.SortStableFunc(list, func(x, y holding) int {
		return cmp.Compare(y.bounds.Estimate, x.bounds.Estimate)
	})
	seen := map[int64]bool{}
	return slices.DeleteFunc(list, func(h holding) bool {
		again := seen[h.row]
		seen[h.row] = true
		return again
	}), nil
}
