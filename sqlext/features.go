package sqlext

import (
	"fmt"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// one returns the feature of a slot from those that list gives for a sketch, of which
// there are as many as count says.
func one(f *sqlite.Call, list func(dst []sketch.Feature, b []byte) ([]sketch.Feature, error), buffer *[]sketch.Feature, count func(sketch.Profile) int) error {
	a := f.Args()
	b, err := sketchBytes(&a[0], "the sketch")
	if err != nil {
		return err
	}
	slot, err := a[1].Whole("the slot")
	if err != nil {
		return err
	}
	if *buffer, err = list((*buffer)[:0], b); err != nil {
		return err
	}
	for _, feature := range *buffer {
		if feature.Slot+1 == slot {
			f.SetInt(feature.Value)
			return nil
		}
	}
	p, err := sketch.ProfileOf(b)
	if err == nil && (slot < 1 || slot > count(p)) {
		err = fmt.Errorf("slot %d, want 1 to %d", slot, count(p))
	}
	return err // or NULL: a group of empty bins has no feature
}

func feature(c *conn, f *sqlite.Call) error {
	return one(f, sketch.Features, &c.featureBuffer, func(p sketch.Profile) int { return p.K })
}

func superfeature(c *conn, f *sqlite.Call) error {
	return one(f, sketch.Superfeatures, &c.featureBuffer, sketch.Profile.Superfeatures)
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
