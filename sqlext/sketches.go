package sqlext

import (
	"fmt"
	"math"

	"github.com/alike-sql/alike/sketch"
)

// Version is the version of the extension.
const Version = "0.1.0"

// sketcher is a profile in use on a connection.
type sketcher struct {
	*sketch.Sketcher
	settings string // as the caller spelled them
}

// keptProfiles bounds how many profiles and variants a connection keeps ready;
// a program that spells a new one for each row does not fill memory.
const keptProfiles = 32

// sketcher returns the sketcher of the settings in v, of the default profile
// when there is no v.
func (c *conn) sketcher(v *value) (*sketcher, error) {
	var settings []byte
	if v != nil {
		if v.kind != typeText {
			return nil, fmt.Errorf("the profile is %s, want text", v.describe())
		}
		settings = v.bytes()
	}
	if c.last != nil && c.last.settings == string(settings) {
		return c.last, nil
	}
	s := c.profiles[string(settings)]
	if s == nil {
		p, err := sketch.ParseProfile(string(settings))
		if err != nil {
			return nil, err
		}
		made, err := sketch.NewSketcher(p)
		if err != nil {
			return nil, err
		}
		if len(c.profiles) >= keptProfiles {
			clear(c.profiles)
		}
		s = &sketcher{Sketcher: made, settings: string(settings)}
		c.profiles[s.settings] = s
	}
	c.last = s
	return s, nil
}

// describe names a value in an error, shortened.
func (v *value) describe() string {
	switch v.kind {
	case typeInteger:
		return fmt.Sprintf("the integer %d", v.i)
	case typeFloat:
		return fmt.Sprintf("the number %g", math.Float64frombits(uint64(v.i)))
	case typeText:
		return fmt.Sprintf("%.60q", v.text())
	case typeBlob:
		return fmt.Sprintf("a blob of %d bytes", v.n)
	}
	return "NULL"
}

// argument returns the i-th argument, or nil when it was left out.
func argument(a []value, i int) *value {
	if i >= len(a) || a[i].null() {
		return nil
	}
	return &a[i]
}

// whole reads an argument that is a whole number.
func (v *value) whole(name string) (int, error) {
	if v.kind != typeInteger || v.i != int64(int32(v.i)) {
		return 0, fmt.Errorf("%s is %s, want a whole number", name, v.describe())
	}
	return int(v.i), nil
}

// fraction reads an argument between 0 and 1.
func (v *value) fraction(name string) (float64, error) {
	d, ok := v.number()
	if !ok || !(d >= 0 && d <= 1) {
		return 0, fmt.Errorf("%s is %s, want a number from 0 to 1", name, v.describe())
	}
	return d, nil
}

// blob reads an argument that is a sketch.
func (v *value) blob(name string) ([]byte, error) {
	if v.kind != typeBlob {
		return nil, fmt.Errorf("%s is %s, want a sketch", name, v.describe())
	}
	return v.bytes(), nil
}

// take sketches a document, unless the caller interrupts.
func (c *conn) take(s *sketcher, doc []byte) error { return s.DocumentUntil(doc, c.interrupted) }

func sketchOf(c *conn, f *frame) error {
	a := f.args()
	s, err := c.sketcher(argument(a, 1))
	if err != nil {
		return err
	}
	if err := c.take(s, a[0].bytes()); err != nil || s.Empty() {
		return err
	}
	f.setBytes(typeBlob, s.AppendSketch(f.scratch()))
	return nil
}

// pair reads two sketches.
func pair(f *frame) (a, b []byte, err error) {
	args := f.args()
	if a, err = args[0].blob("the first argument"); err != nil {
		return nil, nil, err
	}
	b, err = args[1].blob("the second argument")
	return a, b, err
}

func resemblance(_ *conn, f *frame) error {
	a, b, err := pair(f)
	if err != nil {
		return err
	}
	r, err := sketch.Resemblance(a, b)
	f.setFloat(r)
	return err
}

func containment(_ *conn, f *frame) error {
	a, b, err := pair(f)
	if err != nil {
		return err
	}
	r, err := sketch.Containment(a, b)
	f.setFloat(r)
	return err
}

func shared(_ *conn, f *frame) error {
	a, b, err := pair(f)
	if err != nil {
		return err
	}
	n, err := sketch.Shared(a, b)
	f.setInt(int64(n))
	return err
}

func alike(_ *conn, f *frame) error {
	a, b, err := pair(f)
	if err != nil {
		return err
	}
	yes, err := sketch.Alike(a, b)
	f.setBool(yes)
	return err
}

func feature(c *conn, f *frame) error {
	a := f.args()
	b, err := a[0].blob("the sketch")
	if err != nil {
		return err
	}
	slot, err := a[1].whole("the slot")
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
			f.setInt(feature.Value)
			return nil
		}
	}
	p, err := sketch.ProfileOf(b)
	if err == nil && (slot < 1 || slot > p.K) {
		err = fmt.Errorf("slot %d, want 1 to %d", slot, p.K)
	}
	return err // or NULL: a group of empty bins has no feature
}

func featureRows(list []sketch.Feature, err error) (source, error) {
	if err != nil {
		return nil, err
	}
	return rowsOf(len(list), func(b *batch, cells []value, i int) {
		cells[0].setInt(int64(list[i].Slot) + 1)
		cells[1].setInt(list[i].Value)
	}), nil
}

func features(_ *conn, a []value, _ wanted) (source, error) {
	b, err := a[0].blob("the sketch")
	if err != nil {
		return nil, err
	}
	return featureRows(sketch.Features(nil, b))
}

func superfeatures(_ *conn, a []value, _ wanted) (source, error) {
	b, err := a[0].blob("the sketch")
	if err != nil {
		return nil, err
	}
	return featureRows(sketch.Superfeatures(nil, b))
}

func profile(_ *conn, f *frame) error {
	b, err := f.args()[0].blob("the sketch")
	if err != nil {
		return err
	}
	p, err := sketch.ProfileOf(b)
	if err != nil {
		return err
	}
	f.setText(p.String())
	return nil
}

func profiles(_ *conn, _ []value, _ wanted) (source, error) {
	presets := sketch.Presets()
	return rowsOf(len(presets), func(b *batch, cells []value, i int) {
		b.setText(&cells[0], presets[i].Name)
		b.setText(&cells[1], presets[i].Settings)
		b.setText(&cells[2], presets[i].For)
	}), nil
}

func version(_ *conn, f *frame) error {
	f.setText(Version)
	return nil
}

// elements is alike_sketch_set: a set spread over rows.
type elements struct {
	sketcher *sketch.Sketcher
	settings string
}

func newElements() aggregate { return &elements{} }

func (e *elements) step(_ *conn, a []value) error {
	if e.sketcher == nil {
		if p := argument(a, 2); p != nil {
			if p.kind != typeText {
				return fmt.Errorf("the profile is %s, want text", p.describe())
			}
			e.settings = p.text()
		}
		p, err := sketch.ParseProfile(e.settings)
		if err != nil {
			return err
		}
		p.Stream, p.W, p.OtherCase = sketch.Elements, 1, false
		if e.sketcher, err = sketch.NewSketcher(p); err != nil {
			return err
		}
	} else if len(a) > 2 && e.settings != string(a[2].bytes()) {
		return fmt.Errorf("two profiles in one set, %.60q and %.60q", e.settings, a[2].text())
	}
	if len(a) < 2 {
		e.sketcher.AddElement(a[0].bytes())
		return nil
	}
	weight, ok := a[1].number()
	if !ok {
		return fmt.Errorf("the weight is %s, want a number", a[1].describe())
	}
	return e.sketcher.AddWeighted(a[0].bytes(), weight)
}

func (e *elements) final(f *frame) error {
	if e.sketcher != nil && !e.sketcher.Empty() {
		f.setBytes(typeBlob, e.sketcher.AppendSketch(f.scratch()))
	}
	return nil
}

// union is alike_merge.
type union struct {
	merger sketch.Merger
	any    bool
}

func newUnion() aggregate { return &union{} }

func (u *union) step(_ *conn, a []value) error {
	b, err := a[0].blob("the sketch")
	if err != nil {
		return err
	}
	u.any = true
	return u.merger.Add(b)
}

func (u *union) final(f *frame) error {
	if !u.any {
		return nil
	}
	b, err := u.merger.AppendSketch(f.scratch())
	f.setBytes(typeBlob, b)
	return err
}
