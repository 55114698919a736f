package sqlext

import (
	"encoding/json"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// pair reads two sketches.
func pair(f *sqlite.Call) (a, b []byte, err error) {
	args := f.Args()
	if a, err = sketchBytes(&args[0], "the first argument"); err != nil {
		return nil, nil, err
	}
	b, err = sketchBytes(&args[1], "the second argument")
	return a, b, err
}

func resemblance(_ *conn, f *sqlite.Call) error {
	a, b, err := pair(f)
	if err != nil {
		return err
	}
	c, err := sketch.Compare(a, b)
	if c.Trials > 0 { // nothing sampled tells nothing: NULL
		f.SetFloat(c.Resemblance)
	}
	return err
}

// resemblanceOfRows is alike__resemblance: NULL for rows that do not compare. Builds with
// different tokens have sketched them, or a stored sketch is damaged: that must not fail a
// checkin of another row.
func resemblanceOfRows(_ *conn, f *sqlite.Call) error {
	a := f.Args()
	if r, err := sketch.Resemblance(a[0].Bytes(), a[1].Bytes()); err == nil {
		f.SetFloat(r)
	}
	return nil
}

func containment(_ *conn, f *sqlite.Call) error {
	a, b, err := pair(f)
	if err != nil {
		return err
	}
	r, ok, err := sketch.Containment(a, b)
	if ok {
		f.SetFloat(r)
	}
	return err
}

// size is alike_size.
func size(_ *conn, f *sqlite.Call) error {
	b, err := sketchBytes(&f.Args()[0], "the sketch")
	if err != nil {
		return err
	}
	n, err := sketch.Size(b)
	f.SetFloat(n)
	return err
}

func shared(_ *conn, f *sqlite.Call) error {
	a, b, err := pair(f)
	if err != nil {
		return err
	}
	n, err := sketch.Shared(a, b)
	f.SetInt(int64(n))
	return err
}

func alike(_ *conn, f *sqlite.Call) error {
	a, b, err := pair(f)
	if err != nil {
		return err
	}
	yes, err := sketch.Alike(a, b)
	f.SetBool(yes)
	return err
}

// bounds is alike_bounds.
func bounds(_ *conn, f *sqlite.Call) error {
	a, b, err := pair(f)
	if err != nil {
		return err
	}
	level := confidence
	if v := argument(f.Args(), 2); v != nil {
		if level, err = v.Fraction("the confidence"); err != nil {
			return err
		}
	}
	interval, err := sketch.Bounds(a, b, level)
	if err != nil {
		return err
	}
	c, err := sketch.Compare(a, b)
	if err != nil {
		return err
	}
	estimate := &interval.Estimate
	if c.Trials == 0 {
		estimate = nil
	}
	text, err := json.Marshal(struct {
		Low      float64  `json:"low"`
		Estimate *float64 `json:"estimate"`
		High     float64  `json:"high"`
	}{interval.Low, estimate, interval.High})
	f.SetBytes(sqlite.Text, text)
	return err
}

// exact is the common part of the two exact ratios.
func exact(ratio func(p sketch.Profile, a, b []byte) (float64, bool, error)) func(c *conn, f *sqlite.Call) error {
	return func(c *conn, f *sqlite.Call) error {
		a := f.Args()
		s, err := c.sketcher(argument(a, 2))
		if err != nil {
			return err
		}
		r, ok, err := ratio(s.Profile(), a[0].Bytes(), a[1].Bytes())
		if ok {
			f.SetFloat(r)
		}
		return err
	}
}
