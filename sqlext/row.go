package sqlext

import (
	"fmt"
	"strings"
	"time"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// maxIndexes is how many similarity indexes a table can have, beside the 64
// features that a profile can.
const (
	maxFeatures = 64
	maxIndexes  = 32
)

// rowColumns are the columns of alike__row: one document, everything that the
// side table keeps of it.
func rowColumns() []string {
	list := []string{"content_hash", "shingles", "sketch", "sketched_at"}
	for i := range maxFeatures {
		list = append(list, fmt.Sprintf("f%d", i+1))
	}
	for i := range maxIndexes {
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
	page    []byte // the text of the last page, reused
}

func (c *conn) rowSettings(v *sqlite.Value) (*rowSettings, error) {
	if v.Kind != sqlite.Text {
		return nil, fmt.Errorf("the settings are %s, want text", v.Describe())
	}
	if s := c.lastRow; s != nil && s.text == string(v.Bytes()) {
		return s, nil
	}
	if s := c.rows[string(v.Bytes())]; s != nil {
		c.lastRow = s
		return s, nil
	}
	return c.newRowSettings(v.Text())
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
	if len(variants) > maxIndexes {
		return nil, fmt.Errorf("%d similarity indexes, want at most %d", len(variants), maxIndexes)
	}
	s := &rowSettings{text: text, extract: lines[2] == "html"}
	if s.row, err = aspect.New(profile, variants); err != nil {
		return nil, err
	}
	s.row.Stop = c.Interrupted
	if len(c.rows) >= keptProfiles {
		clear(c.rows)
	}
	c.rows[s.text], c.lastRow = s, s
	return s, nil
}

// document is the text of a document as a profile reads it.
func (s *rowSettings) document(doc []byte) []byte {
	if s.extract {
		s.page = sketch.AppendHTMLText(s.page[:0], doc)
		return s.page
	}
	return doc
}

// sideRow is alike__row: what the side table keeps of a document, in one row.
// NULL, and a document without a token, have a row too: it says that there is
// nothing to be alike to.
func sideRow(c *conn, a []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	s, err := c.rowSettings(&a[1])
	if err != nil {
		return nil, err
	}
	var made *aspect.Row
	if !a[0].Null() {
		doc := a[0].Bytes()
		if made, err = s.row.Row(sketch.ContentHash(doc), s.document(doc)); err != nil {
			return nil, err
		}
	}
	return sqlite.SourceFunc(func(b *sqlite.Batch) (bool, error) {
		row := b.Row()
		row[3].SetInt(time.Now().Unix())
		if made == nil {
			return false, nil
		}
		row[0].SetInt(made.ContentHash)
		row[1].SetInt(made.Shingles)
		if len(made.Sketch) > 0 {
			b.SetBytes(&row[2], sqlite.Blob, made.Sketch)
		}
		for _, f := range made.Features {
			row[4+f.Slot].SetInt(f.Value)
		}
		for i, si := range made.Indexes {
			if si.Valid {
				row[4+maxFeatures+i].SetInt(si.Value)
			}
		}
		return false, nil
	}), nil
}
