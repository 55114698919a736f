package sqlext

import (
	"encoding/binary"
	"slices"
	"strings"
	"unsafe"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// documents are rows of the side table that are compared with one another. They
// are read together and in the order of the table, which costs a fraction of
// reading each where it is needed.
type documents struct {
	rows     []int64 // ascending, each once
	named    bool    // by keys that are not the rows' numbers
	keys     [][]any // these
	sketches []byte
	ends     []int    // of each in sketches; a row that is not there has none
	k        int      // features of each
	features []int64  // k a document, when they were asked for
	has      []uint64 // the features that are there
}

// readDocuments replaces what d holds by the rows given. It keeps the rows.
func (c *conn) readDocuments(a *attachment, d *documents, rows []int64, features bool) error {
	item := ""
	d.rows, d.named, d.keys, d.sketches, d.ends, d.k, d.features, d.has = rows, !a.Keys.Rowid(), d.keys[:0], d.sketches[:0], d.ends[:0], 0, d.features[:0], d.has[:0]
	if features {
		item, d.k = "s."+strings.Join(a.Features(), ", s."), a.profile.K
	}
	s, err := c.ask(a, "documents", item)
	if err != nil {
		return err
	}
	defer s.Done()
	err = s.Each(func(r []sqlite.Value) error {
		d.skip(int(r[0].Int()))
		if len(d.sketches) == 0 { // the others are about as long
			d.sketches = slices.Grow(d.sketches, len(rows)*len(r[1].Bytes()))
			d.features = slices.Grow(d.features, len(rows)*d.k)
			d.ends, d.has = slices.Grow(d.ends, len(rows)), slices.Grow(d.has, len(rows))
		}
		d.sketches = append(d.sketches, r[1].Bytes()...)
		r = r[2:]
		if d.named {
			d.keys = append(d.keys, sqlite.Copies(r[:len(a.Keys)]))
			r = r[len(a.Keys):]
		}
		has := uint64(0)
		for i := range r {
			d.features = append(d.features, r[i].Int())
			if !r[i].Null() {
				has |= 1 << i
			}
		}
		d.has, d.ends = append(d.has, has), append(d.ends, len(d.sketches))
		return nil
	}, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rows))), 8*len(rows)))
	d.skip(len(rows))
	return err
}

// skip notes that the rows before position i are gone.
func (d *documents) skip(i int) {
	for len(d.ends) < i {
		d.ends, d.has = append(d.ends, len(d.sketches)), append(d.has, 0)
		d.features = append(d.features, make([]int64, d.k)...)
		if d.named {
			d.keys = append(d.keys, nil)
		}
	}
}

func (d *documents) sketch(i int) []byte {
	from := 0
	if i > 0 {
		from = d.ends[i-1]
	}
	return d.sketches[from:d.ends[i]]
}

// key is the key of a document as one value.
func (d *documents) key(i int) (any, error) {
	if !d.named {
		return d.rows[i], nil
	}
	return keyValue(d.keys[i])
}

// before orders documents by their keys.
func (d *documents) before(i, j int) bool {
	if !d.named {
		return d.rows[i] < d.rows[j]
	}
	x, y := d.keys[i], d.keys[j]
	for part := range x {
		if lessKey(x[part], y[part]) {
			return true
		}
		if lessKey(y[part], x[part]) {
			return false
		}
	}
	return false
}

// shared counts the features that two documents have in common and tells the
// first of them.
func (d *documents) shared(i, j int) (n, first int) {
	first = -1
	x, y, has := d.features[i*d.k:][:d.k], d.features[j*d.k:][:d.k], d.has[i]&d.has[j]
	for f := range x {
		if x[f] == y[f] && has>>f&1 != 0 {
			if n++; first < 0 {
				first = f
			}
		}
	}
	return n, first
}

// list is alike__list: the 64-bit numbers of a blob.
func list(_ *conn, args []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	numbers := append([]byte(nil), args[0].Bytes()...)
	return sqlite.Rows(len(numbers)/8, func(_ *sqlite.Batch, cells []sqlite.Value, i int) {
		cells[0].SetInt(int64(i))
		cells[1].SetInt(int64(binary.NativeEndian.Uint64(numbers[8*i:])))
	}), nil
}
