package sqlext

import (
	"errors"

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
		s, err := c.ask(a, "texts", "")
		if err != nil {
			return err
		}
		defer s.Done()
		work := 0
		return s.Each(func(row []sqlite.Value) error {
			if work++; work&255 == 0 {
				if err := c.Interrupted(); err != nil {
					return err
				}
			}
			return each(row[1:], settings.document(row[0].Bytes()))
		})
	}
	for _, take := range []func([]byte) error{l.Add, l.Count} {
		if err := read(func(_ []sqlite.Value, text []byte) error { return take(text) }); err != nil {
			return nil, err
		}
	}
	if !l.Complete() {
		return nil, errors.New("the documents are too long to count their shingles in memory; ask for a greater share")
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
