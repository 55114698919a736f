package sqlext

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
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

// rowSettings is what an attached table computes: the text that its triggers
// carry, read once.
type rowSettings struct {
	text    string
	row     *aspect.Computer
	extract bool
	indexes int
	super   int   // superfeatures that are columns
	profile int64 // what the row says of its profile
	packed  packedRow
	page    []byte // the text of the last page, reused

	boilerplate *sketch.Boilerplate // the shingles that the sketches leave out

	exact         *sketch.Sketcher // of all shingles, made when it is asked for
	first, second exactDocument
	passages      *sketch.Passages // made when it is asked for
}

// settingsOf are those of an attachment.
func (c *conn) settingsOf(a *attachment) (*rowSettings, error) {
	text := a.RowSettings()
	if s := c.rows[text]; s != nil {
		return s, nil
	}
	return c.newRowSettings(text)
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

// withSuperfeatures is the last line of the settings of a table that has superfeatures as
// columns.
const withSuperfeatures = "\nsuperfeatures"

func (c *conn) newRowSettings(text string) (*rowSettings, error) {
	settings, superfeatures := strings.CutSuffix(text, withSuperfeatures)
	lines := strings.Split(settings, "\n")
	if len(lines) != 5 {
		return nil, fmt.Errorf("the settings have %d lines, want 5", len(lines))
	}
	number, err := strconv.ParseInt(lines[3], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the number of the profile is %.60q, want an integer", lines[3])
	}
	tokens, err := strconv.ParseUint(lines[4], 10, 16)
	if err != nil {
		return nil, fmt.Errorf("the fingerprint of the tokens is %.60q, want 0 to 65535", lines[4])
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
	s := &rowSettings{text: text, extract: lines[2] == "html", indexes: len(variants)}
	if s.boilerplate, err = c.boilerplate(profile); err != nil {
		return nil, err
	}
	if s.row, err = aspect.NewWithout(profile, variants, s.boilerplate); err != nil {
		return nil, err
	}
	s.row.Stop = c.Interrupted
	if superfeatures {
		if err := aspect.CheckSuperfeatures(profile); err != nil {
			return nil, err
		}
		s.row.KeepSuperfeatures()
		s.super = profile.Superfeatures()
	}
	// The trigger may come from a build with other tokens. No profile has the number 0:
	// the row is stale to every build.
	if uint16(tokens) == profile.TokensFingerprint() {
		s.profile = number
	}
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

// sideRow is alike__row: what the side table keeps of a document, as one value whose
// cells alike__cell takes out (shim.c). NULL, and a document without a token, have a row
// too: it says that there is nothing to be alike to.
//
// Triggers call scalar functions only. SQLite renames a table or a column after it has
// parsed every trigger of the database, and then an unknown scalar function does not
// matter, where an unknown table-valued one would be a missing table: so a program
// without the extension can alter its schema.
func sideRow(c *conn, f *sqlite.Call) error {
	c.Wrote()
	a := f.Args()
	s, err := c.rowSettings(&a[1])
	if err != nil {
		return err
	}
	row := &s.packed
	k := s.row.Profile().K
	row.reset(4 + k + s.super + s.indexes + 1)
	row.setInt(0, s.profile)
	row.setInt(row.count()-1, time.Now().Unix())
	if !a[0].Null() {
		doc := a[0].Bytes()
		made, err := s.row.Row(sketch.ContentHash(doc), s.document(doc))
		if err != nil {
			return err
		}
		row.setInt(1, made.ContentHash)
		row.setInt(2, made.Shingles)
		for _, feature := range made.Features {
			row.setInt(4+feature.Slot, feature.Value)
		}
		for _, feature := range made.Superfeatures {
			row.setInt(4+k+feature.Slot, feature.Value)
		}
		for i, si := range made.Indexes {
			if si.Valid {
				row.setInt(row.count()-1-s.indexes+i, si.Value)
			}
		}
		if len(made.Sketch) > 0 {
			row.setBytes(3, made.Sketch)
		}
	}
	f.SetBytes(sqlite.Blob, row.bytes)
	return nil
}

// packedRow is the cells of a row as alike__cell reads them: their number in a byte, a byte
// for the type of each, eight bytes for the integer in each, and the bytes of the one
// that is a blob.
type packedRow struct{ bytes []byte }

// The types of a cell; no byte means NULL.
const (
	integerCell = 1
	blobCell    = 2
)

func (c *packedRow) reset(n int) {
	c.bytes = slices.Grow(c.bytes[:0], 1+9*n)[:1+9*n]
	clear(c.bytes)
	c.bytes[0] = byte(n)
}

func (c *packedRow) count() int { return int(c.bytes[0]) }

func (c *packedRow) setInt(i int, v int64) {
	c.bytes[1+i] = integerCell
	binary.NativeEndian.PutUint64(c.bytes[1+c.count()+8*i:], uint64(v))
}

func (c *packedRow) setBytes(i int, b []byte) {
	c.bytes[1+i] = blobCell
	c.bytes = append(c.bytes, b...)
}
