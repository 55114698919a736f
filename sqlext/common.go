package sqlext

import (
	"errors"
	"fmt"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/common"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// commonPassages is alike_common: what more than a share of the rows have in common.
func commonPassages(c *conn, args []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	share := common.Share
	if !args[1].Null() {
		if share, err = args[1].Fraction("the share"); err != nil {
			return nil, err
		}
	}
	settings, err := c.settingsOf(a)
	if err != nil {
		return nil, err
	}
	l, err := common.NewLearner[any](a.profile, share, c.Interrupted)
	if err != nil {
		return nil, err
	}
	read := func(each func(row []sqlite.Value, text []byte) error) error {
		return c.eachText(a.sql("texts"), func(row []sqlite.Value) error { return each(row[1:], settings.document(row[0].Bytes())) })
	}
	if err := l.Learn(func(take func([]byte) error) error {
		return read(func(_ []sqlite.Value, text []byte) error { return take(text) })
	}); err != nil {
		return nil, err
	}
	seen := errors.New("every shingle was seen")
	if err := read(func(key []sqlite.Value, text []byte) error {
		id, err := keyValue(sqlite.Copies(key))
		if err == nil && l.Example(id, text) {
			err = seen
		}
		return err
	}); err != nil && !errors.Is(err, seen) {
		return nil, err
	}
	list := l.Passages()
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		for n, v := range []any{list[i].Text, int64(list[i].Rows), list[i].Share, int64(list[i].Shingles), list[i].Example} {
			b.SetAny(&cells[n], v)
		}
	}), nil
}

// eachText runs a statement over all documents.
func (c *conn) eachText(statement string, each func(row []sqlite.Value) error, args ...any) error {
	work := 0
	return c.Run(statement, func(row []sqlite.Value) error {
		if work++; work&255 == 0 {
			if err := c.Interrupted(); err != nil {
				return err
			}
		}
		return each(row)
	}, args...)
}

// leaveOut settles the list of shingles that the sketches of a leave out: it learns one from
// the documents, or takes the list with the given name. A new profile has none unless the option
// common is given with it.
func (c *conn) leaveOut(a *attachment, p *sketch.Profile, o *options) error {
	if o.Common.given {
		p.Without = o.Common.list
	}
	if err := p.Validate(); err != nil || o.Common.of == 0 {
		if err == nil {
			_, err = c.boilerplate(*p)
		}
		return err
	}
	l, err := common.NewLearner[any](*p, o.Common.of, c.Interrupted)
	if err != nil {
		return err
	}
	var page []byte
	if err := l.Learn(func(take func([]byte) error) error {
		return c.eachText(a.sql("look"), func(row []sqlite.Value) error {
			text := row[0].Bytes()
			if a.Extract == "html" {
				page = sketch.AppendHTMLText(page[:0], text)
				text = page
			}
			return take(text)
		}, -1)
	}); err != nil {
		return err
	}
	if a.boilerplate, err = l.Boilerplate(); err != nil || a.boilerplate == nil {
		return err
	}
	p.Without = a.boilerplate.Fingerprint()
	return p.Validate()
}

// boilerplate returns the list of shingles that a profile leaves out, or nil where it leaves
// none out. What a list is named by tells its content, so it may come from any schema.
func (c *conn) boilerplate(p sketch.Profile) (*sketch.Boilerplate, error) {
	if p.Without == 0 {
		return nil, nil
	}
	schemas, err := c.schemas()
	if err != nil {
		return nil, err
	}
	for _, schema := range schemas {
		if has, err := c.HasColumn(schema, "alike_boilerplate", "shingles"); err != nil {
			return nil, err
		} else if !has {
			continue
		}
		var b *sketch.Boilerplate
		if err := c.Run(inSchema(schema, "boilerplate"), func(row []sqlite.Value) (err error) {
			b, err = sketch.ParseBoilerplate(row[0].Bytes())
			return err
		}, int64(p.Without)); err != nil {
			return nil, err
		}
		if b != nil && b.Fingerprint() == p.Without {
			return b, nil
		}
	}
	return nil, fmt.Errorf("the list %08x of shingles that the profile leaves out is not in this database; attach with the option common learns one", p.Without)
}
