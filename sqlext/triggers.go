package sqlext

import (
	"fmt"
	"math"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

func contentHash(_ *conn, f *sqlite.Call) error {
	f.SetInt(sketch.ContentHash(f.Args()[0].Bytes()))
	return nil
}

// compare is alike__compare: a row with the estimate and its bounds when it
// reaches a limit, and none when it does not.
func compare(_ *conn, a []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	x, err := sketchBytes(&a[0], "the first sketch")
	if err != nil {
		return nil, err
	}
	y, err := sketchBytes(&a[1], "the second sketch")
	if err != nil {
		return nil, err
	}
	atLeast, ok := a[2].Number()
	if !ok || math.IsNaN(atLeast) {
		return nil, fmt.Errorf("the limit is %s, want a number", a[2].Describe())
	}
	r, err := sketch.Resemblance(x, y)
	if err != nil || r < atLeast {
		return nil, err
	}
	bounds, err := sketch.Bounds(x, y, confidence)
	if err != nil {
		return nil, err
	}
	return sqlite.SourceFunc(func(b *sqlite.Batch) (bool, error) {
		row := b.Row()
		row[0].SetFloat(r)
		row[1].SetFloat(bounds.Low)
		row[2].SetFloat(bounds.High)
		return false, nil
	}), nil
}

// reject is alike__reject: it fails, and so the statement of the checkin does.
func reject(_ *conn, f *sqlite.Call) error {
	a := f.Args()
	r, _ := a[2].Number()
	atLeast, _ := a[3].Number()
	return &sqlite.Error{Code: sqlite.CodeConstraint, Text: fmt.Sprintf("alike: the document resembles row %s of %s (resemblance %.3f, rejected from %.3f)", a[1].String(), a[0].Text(), r, atLeast)}
}

// warn is alike__warn: it writes to SQLite's error log, which the host reads.
func warn(_ *conn, f *sqlite.Call) error {
	a := f.Args()
	r, _ := a[3].Number()
	sqlite.LogWarning(fmt.Sprintf("alike: row %s of %s resembles row %s (resemblance %.3f)", a[1].String(), a[0].Text(), a[2].String(), r))
	return nil
}

// loaded is alike__extension_must_be_loaded: its name is what a program without
// the extension reads when it writes to an attached table.
func loaded(_ *conn, f *sqlite.Call) error {
	f.SetInt(1)
	return nil
}
