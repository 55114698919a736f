package sqlext

import (
	"fmt"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

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
func (c *conn) sketcher(v *sqlite.Value) (*sketcher, error) {
	var settings []byte
	if v != nil {
		if v.Kind != sqlite.Text {
			return nil, fmt.Errorf("the profile is %s, want text", v.Describe())
		}
		settings = v.Bytes()
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

// argument returns the i-th argument, or nil when it was left out.
func argument(a []sqlite.Value, i int) *sqlite.Value {
	if i >= len(a) || a[i].Null() {
		return nil
	}
	return &a[i]
}

// take sketches a document, unless the caller interrupts.
func (c *conn) take(s *sketcher, doc []byte) error { return s.DocumentUntil(doc, c.Interrupted) }

func sketchOf(c *conn, f *sqlite.Call) error {
	a := f.Args()
	s, err := c.sketcher(argument(a, 1))
	if err != nil {
		return err
	}
	if err := c.take(s, a[0].Bytes()); err != nil || s.Empty() {
		return err
	}
	f.SetBytes(sqlite.Blob, s.AppendSketch(f.Scratch()))
	return nil
}

func profile(_ *conn, f *sqlite.Call) error {
	b, err := sketchBytes(&f.Args()[0], "the sketch")
	if err != nil {
		return err
	}
	p, err := sketch.ProfileOf(b)
	if err != nil {
		return err
	}
	f.SetText(p.String())
	return nil
}

func profiles(_ *conn, _ []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	presets := sketch.Presets()
	recalls := make([]float64, len(presets))
	for i, preset := range presets {
		p, err := sketch.ParseProfile(preset.Settings)
		if err == nil {
			recalls[i], err = sketch.ThresholdRecall(p.K, p.S, preset.AtLeast)
		}
		if err != nil {
			return nil, err
		}
	}
	return sqlite.Rows(len(presets), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		b.SetText(&cells[0], presets[i].Name)
		b.SetText(&cells[1], presets[i].Settings)
		b.SetText(&cells[2], presets[i].For)
		cells[3].SetFloat(presets[i].AtLeast)
		cells[4].SetFloat(recalls[i])
	}), nil
}

func version(_ *conn, f *sqlite.Call) error {
	f.SetText(sketch.Version)
	return nil
}

// elements is alike_sketch_set: a set spread over rows.
type elements struct {
	sketcher *sketch.Sketcher
	settings string
}

func newElements() sqlite.Aggregate { return &elements{} }

func (e *elements) Step(a []sqlite.Value) error {
	if e.sketcher == nil {
		if p := argument(a, 2); p != nil {
			if p.Kind != sqlite.Text {
				return fmt.Errorf("the profile is %s, want text", p.Describe())
			}
			e.settings = p.Text()
		}
		p, err := sketch.ParseProfile(e.settings)
		if err != nil {
			return err
		}
		p.Stream, p.W, p.ReverseFolding = sketch.Elements, 1, false
		if e.sketcher, err = sketch.NewSketcher(p); err != nil {
			return err
		}
	} else if len(a) > 2 && e.settings != string(a[2].Bytes()) {
		return fmt.Errorf("one set has two profiles, %.60q and %.60q", e.settings, a[2].Text())
	}
	if len(a) < 2 {
		e.sketcher.AddElement(a[0].Bytes())
		return nil
	}
	weight, ok := a[1].Number()
	if !ok {
		return fmt.Errorf("the weight is %s, want a number", a[1].Describe())
	}
	return e.sketcher.AddWeighted(a[0].Bytes(), weight)
}

func (e *elements) Final(f *sqlite.Call) error {
	if e.sketcher != nil && !e.sketcher.Empty() {
		f.SetBytes(sqlite.Blob, e.sketcher.AppendSketch(f.Scratch()))
	}
	return nil
}

// union is alike_merge.
type union struct {
	merger sketch.Merger
	any    bool
}

func newUnion() sqlite.Aggregate { return &union{} }

func (u *union) Step(a []sqlite.Value) error {
	b, err := sketchBytes(&a[0], "the sketch")
	if err != nil {
		return err
	}
	u.any = true
	return u.merger.Add(b)
}

func (u *union) Final(f *sqlite.Call) error {
	if !u.any {
		return nil
	}
	b, err := u.merger.AppendSketch(f.Scratch())
	f.SetBytes(sqlite.Blob, b)
	return err
}

// sketchBytes reads an argument that is a sketch.
func sketchBytes(v *sqlite.Value, name string) ([]byte, error) {
	if v.Kind != sqlite.Blob {
		return nil, fmt.Errorf("%s is %s, want a sketch", name, v.Describe())
	}
	return v.Bytes(), nil
}
