package sqlext

import (
	"fmt"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

func contentHash(_ *conn, f *sqlite.Call) error {
	f.SetInt(sketch.ContentHash(f.Args()[0].Bytes()))
	return nil
}

// bound is alike__low or alike__high: an end of the interval around an estimate.
func bound(end func(sketch.Interval) float64) func(*conn, *sqlite.Call) error {
	return func(_ *conn, f *sqlite.Call) error {
		x, y, err := pair(f)
		if err != nil {
			return err
		}
		interval, err := sketch.Bounds(x, y, confidence)
		f.SetFloat(end(interval))
		return err
	}
}

// reject is alike__reject: it fails, and so the statement of the checkin does.
func reject(_ *conn, f *sqlite.Call) error {
	a := f.Args()
	r, _ := a[2].Number()
	atLeast, _ := a[3].Number()
	return &sqlite.Error{Code: sqlite.CodeConstraint, Named: true, Text: fmt.Sprintf("alike: the document resembles row %s of %s (resemblance %.3f, rejected from %.3f)", a[1].String(), a[0].Text(), r, atLeast)}
}

// cannotJudge is alike__cannot_judge: a document whose tokens differ from those of the
// rows cannot be compared with them, so the policy reject does not let it pass.
func cannotJudge(_ *conn, f *sqlite.Call) error {
	name := f.Args()[0].Text()
	return &sqlite.Error{Code: sqlite.CodeConstraint, Named: true, Text: "alike: " + otherBuild(name)}
}

func otherBuild(name string) string {
	return fmt.Sprintf("the rows of %s were sketched by a build of Alike that makes other tokens; alike_refresh(%s) sketches them again", name, literal(name))
}

// warn is alike__warn: it writes to SQLite's error log, which the host reads.
func warn(_ *conn, f *sqlite.Call) error {
	a := f.Args()
	r, _ := a[3].Number()
	logMatch(fmt.Sprintf("alike: row %s of %s resembles row %s (resemblance %.3f)", a[1].String(), a[0].Text(), a[2].String(), r), a[4].Int())
	return nil
}

func logMatch(text string, omitted int64) {
	switch {
	case omitted == 1:
		text += ", and 1 other"
	case omitted > 1:
		text += fmt.Sprintf(", and %d others", omitted)
	}
	sqlite.LogWarning(text)
}

// loaded is alike__extension_must_be_loaded: its name is what a program without
// the extension reads when it writes to an attached table.
func loaded(_ *conn, f *sqlite.Call) error {
	f.SetInt(1)
	return nil
}
