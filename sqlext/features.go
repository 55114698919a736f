package sqlext

import (
	"fmt"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

func feature(c *conn, f *sqlite.Call) error {
	a := f.Args()
	b, err := sketchBytes(&a[0], "the sketch")
	if err != nil {
		return err
	}
	slot, err := a[1].Whole("the slot")
	if err != nil {
		return err
	}
	list, err := sketch.Features(c.featureBuffer[:0], b)
	if err != nil {
		return err
	}
	c.featureBuffer = list
	for _, feature := range list {
		if feature.Slot+1 == slot {
			f.SetInt(feature.Value)
			return nil
		}
	}
	p, err := sketch.ProfileOf(b)
	if err == nil && (slot < 1 || slot > p.K) {
		err = fmt.Errorf("slot %d, want 1 to %d", slot, p.K)
	}
	return err // or NULL: a group of empty bins has no feature
}

func featureRows(list []sketch.Feature, err error) (sqlite.Source, error) {
	if err != nil {
		return nil, err
	}
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		cells[0].SetInt(int64(list[i].Slot) + 1)
		cells[1].SetInt(list[i].Value)
	}), nil
}

func features(_ *conn, a []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	b, err := sketchBytes(&a[0], "the sketch")
	if err != nil {
		return nil, err
	}
	return featureRows(sketch.Features(nil, b))
}

func superfeatures(_ *conn, a []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	b, err := sketchBytes(&a[0], "the sketch")
	if err != nil {
		return nil, err
	}
	return featureRows(sketch.Superfeatures(nil, b))
}
