package sqlext

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
)

// mostIndexes is how many similarity indexes a table can have, beside the 64
// features that a profile can.
const (
	mostFeatures = 64
	mostIndexes  = 32
)

// rowColumns are the columns of alike__row: one document, everything that the
// side table keeps of it.
func rowColumns() []string {
	list := []string{"content_hash", "shingles", "sketch", "sketched_at"}
	for i := range mostFeatures {
		list = append(list, fmt.Sprintf("f%d", i+1))
	}
	for i := range mostIndexes {
		list = append(list, fmt.Sprintf("s%d", i+1))
	}
	return list
}

// rowSettings is what an attached table computes: the text that its triggers
// carry, read once.
type rowSettings struct {
	text    string
	row     *aspect.Computer
	extract bool
}

func (c *conn) rowSettings(v *value) (*rowSettings, error) {
	if v.kind != typeText {
		return nil, fmt.Errorf("the settings are %s, want text", v.describe())
	}
	if s := c.lastRow; s != nil && s.text == string(v.bytes()) {
		return s, nil
	}
	if s := c.rows[string(v.bytes())]; s != nil {
		c.lastRow = s
		return s, nil
	}
	return c.newRowSettings(v.text())
}

func (c *conn) newRowSettings(text string) (*rowSettings, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 3 {
		return nil, fmt.Errorf("the settings have %d lines, want 3", len(lines))
	}
	profile, err := sketch.ParseProfile(lines[0])
	if err != nil {
		return nil, err
	}
	variants, err := aspect.Parse(profile, strings.FieldsFunc(lines[1], func(r rune) bool { return r == ',' }))
	if err != nil {
		return nil, err
	}
	if len(variants) > mostIndexes {
		return nil, fmt.Errorf("%d similarity indexes, want at most %d", len(variants), mostIndexes)
	}
	s := &rowSettings{text: text, extract: lines[2] == "html"}
	if s.row, err = aspect.New(profile, variants); err != nil {
		return nil, err
	}
	s.row.Stop = c.interrupted
	if len(c.rows) >= keptProfiles {
		clear(c.rows)
	}
	c.rows[s.text], c.lastRow = s, s
	return s, nil
}

// document is the text of a document as a profile reads it.
func (s *rowSettings) document(doc []byte) []byte {
	if s.extract {
		return htmlText(doc)
	}
	return doc
}

// sideRow is alike__row: what the side table keeps of a document, in one row.
// NULL, and a document without a token, have a row too: it says that there is
// nothing to be alike to.
func sideRow(c *conn, a []value, _ wanted) (source, error) {
	s, err := c.rowSettings(&a[1])
	if err != nil {
		return nil, err
	}
	var made *aspect.Row
	if !a[0].null() {
		doc := a[0].bytes()
		if made, err = s.row.Row(sketch.ContentHash(doc), s.document(doc)); err != nil {
			return nil, err
		}
	}
	return sourceFunc(func(b *batch) (bool, error) {
		row := b.row()
		row[3].setInt(time.Now().Unix())
		if made == nil {
			return false, nil
		}
		row[0].setInt(made.ContentHash)
		row[1].setInt(made.Shingles)
		if len(made.Sketch) > 0 {
			b.setBytes(&row[2], typeBlob, made.Sketch)
		}
		for _, f := range made.Features {
			row[4+f.Slot].setInt(f.Value)
		}
		for i, si := range made.Indexes {
			if si.Valid {
				row[4+mostFeatures+i].setInt(si.Value)
			}
		}
		return false, nil
	}), nil
}

func contentHash(_ *conn, f *frame) error {
	f.setInt(sketch.ContentHash(f.args()[0].bytes()))
	return nil
}

// confidence is that of every interval the aspect gives.
const confidence = 0.95

// compare is alike__compare: a row with the estimate and its bounds when it
// reaches a limit, and none when it does not.
func compare(_ *conn, a []value, _ wanted) (source, error) {
	x, err := a[0].blob("the first sketch")
	if err != nil {
		return nil, err
	}
	y, err := a[1].blob("the second sketch")
	if err != nil {
		return nil, err
	}
	least, ok := a[2].number()
	if !ok || math.IsNaN(least) {
		return nil, fmt.Errorf("the limit is %s, want a number", a[2].describe())
	}
	r, err := sketch.Resemblance(x, y)
	if err != nil || r < least {
		return nil, err
	}
	bounds, err := sketch.Bounds(x, y, confidence)
	if err != nil {
		return nil, err
	}
	return sourceFunc(func(b *batch) (bool, error) {
		row := b.row()
		row[0].setFloat(r)
		row[1].setFloat(bounds.Low)
		row[2].setFloat(bounds.High)
		return false, nil
	}), nil
}

// reject is alike__reject: it fails, and so the statement of the checkin does.
func reject(_ *conn, f *frame) error {
	a := f.args()
	r, _ := a[2].number()
	least, _ := a[3].number()
	return &sqlError{codeConstraint, fmt.Sprintf("alike: the document resembles row %s of %s (resemblance %.3f, rejected from %.3f)", a[1].plain(), a[0].text(), r, least)}
}

// warn is alike__warn: it writes to SQLite's error log, which the host reads.
func warn(_ *conn, f *frame) error {
	a := f.args()
	r, _ := a[3].number()
	logWarning(fmt.Sprintf("alike: row %s of %s resembles row %s (resemblance %.3f)", a[1].plain(), a[0].text(), a[2].plain(), r))
	return nil
}

// plain is a value as a person reads it.
func (v *value) plain() string {
	switch v.kind {
	case typeInteger, typeText:
		if v.kind == typeText {
			return v.text()
		}
		return fmt.Sprint(v.i)
	case typeFloat:
		d, _ := v.number()
		return fmt.Sprint(d)
	case typeBlob:
		return fmt.Sprintf("x'%x'", v.bytes())
	}
	return "NULL"
}

// loaded is alike__extension_must_be_loaded: its name is what a program without
// the extension reads when it writes to an attached table.
func loaded(_ *conn, f *frame) error {
	f.setInt(1)
	return nil
}
