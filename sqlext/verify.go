package sqlext

import (
	"bytes"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/verify"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// confidence is that of every interval the aspect gives.
const confidence = verify.Confidence

// judge decides pairs of rows, as the option verify says.
type judge = verify.Judge[int64]

// judge decides the pairs of a question. Where that says the threshold, short documents need
// no more than others.
func (c *conn) judge(a *attachment, said bool) (*judge, error) {
	j, err := c.reader(a)
	if err == nil && !said {
		j.Raise(a.Short, func(row int64) (n int64, err error) {
			err = c.each(a, "size", func(r []sqlite.Value) error {
				n = r[0].Int()
				return nil
			}, row)
			return n, err
		})
	}
	return j, err
}

// reader is a judge that reads documents as the option verify says.
func (c *conn) reader(a *attachment) (*judge, error) {
	if a.Verify != "text" || a.elsewhere() { // whose tokens this build does not make
		return verify.Sketches[int64](), nil
	}
	settings, err := c.settingsOf(a)
	if err != nil {
		return nil, err
	}
	var text []byte
	read := func(row int64) (_ []byte, ok bool, err error) {
		err = c.each(a, "text", func(r []sqlite.Value) error {
			if ok = sketched(&r[0], &r[1]); ok {
				text = append(text[:0], settings.document(r[0].Bytes())...)
			}
			return nil
		}, row)
		return text, ok, err
	}
	return verify.Texts(a.profile, settings.boilerplate, read, c.Interrupted)
}

// sketched tells whether a document is still the one whose hash its row has.
func sketched(document, hash *sqlite.Value) bool {
	return !document.Null() && !hash.Null() && sketch.ContentHash(document.Bytes()) == hash.Int()
}

// open is alike__open: whether the sketches leave it open that two rows reach a
// threshold. It is NULL where alike__resemblance is.
func open(_ *conn, f *sqlite.Call) error {
	a := f.Args()
	atLeast, err := a[2].Fraction("at_least")
	if err != nil {
		return err
	}
	if i, err := sketch.Bounds(a[0].Bytes(), a[1].Bytes(), confidence); err == nil {
		f.SetBool(i.Low < atLeast && atLeast <= i.High)
	}
	return nil
}

// exactOfRows is alike__exact: the resemblance of two documents, NULL when one is not the
// document that was sketched or has no token. A checkin compares its row, the first, with
// one after the other.
func exactOfRows(c *conn, f *sqlite.Call) error {
	a := f.Args()
	s, err := c.rowSettings(&a[4])
	if err != nil {
		return err
	}
	if !sketched(&a[0], &a[1]) || !sketched(&a[2], &a[3]) {
		return nil
	}
	first, err := s.exactly(c, &s.first, a[0].Bytes())
	if first == nil || err != nil {
		return err
	}
	second, err := s.exactly(c, &s.second, a[2].Bytes())
	if second == nil || err != nil {
		return err
	}
	r, err := sketch.Resemblance(first, second)
	f.SetFloat(r)
	return err
}

// exactDocument is a document and the sketch of all its shingles.
type exactDocument struct{ document, sketch []byte }

// exactKept is the most that is kept of a document for the next call.
const exactKept = 1 << 20

// exactly returns the sketch of all shingles of a document, nil without a token.
func (s *rowSettings) exactly(c *conn, last *exactDocument, document []byte) ([]byte, error) {
	if last.sketch != nil && bytes.Equal(last.document, document) {
		return last.sketch, nil
	}
	if s.exact == nil {
		var err error
		if s.exact, err = sketch.NewSketcherWithout(s.row.Profile().Exact(), s.boilerplate); err != nil {
			return nil, err
		}
	}
	if err := s.exact.DocumentUntil(s.document(document), c.Interrupted); err != nil || s.exact.Empty() {
		return nil, err
	}
	if len(document) > exactKept {
		*last = exactDocument{}
		return s.exact.AppendSketch(nil), nil
	}
	last.document = append(last.document[:0], document...)
	last.sketch = s.exact.AppendSketch(last.sketch[:0])
	return last.sketch, nil
}
