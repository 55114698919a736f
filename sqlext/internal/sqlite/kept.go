package sqlite

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A statement that joins a table-valued function to a table asks the same question for
// each row of the table. What it has asked last is kept for the life of its cursor: when
// the arguments come again the rows are computed once more, and from then on taken from
// memory; when it wants the rows of one value they are found there at once.
//
// A question that is computed once sees the database as it was then. Functions of ours
// that write (Conn.Wrote) make it be asked anew.

// keptBytes bounds the rows that are kept of an answer; a larger one is computed each time.
const keptBytes = 256 << 20

// keptArguments bounds the arguments that are remembered.
const keptArguments = 64 << 10

type kept struct {
	fn      *Function
	args    []any
	want    Want
	writes  int64
	again   bool // the rows are not computed for the first time
	large   bool
	rows    []byte   // kind, and value or length and bytes, of each cell
	starts  []uint32 // of the rows
	columns int
	indexes map[int32][]keptRow
}

type keptRow struct {
	hash uint64
	row  uint32
}

func (k *kept) Next(*Batch) (bool, error) { return false, nil }
func (k *kept) Close()                    {}

// answer is the source of the rows that a statement asks for.
func (c *Conn) answer(fn *Function, f *Call, given []Value) (Source, error) {
	want := Want{Limit: f.limit, Ordered: f.ordered != 0}
	k, _ := c.states[f.kept].(*kept)
	if k == nil || !k.is(fn, given, want) || fn.Flags&Pure == 0 && k.writes != c.writes {
		if k != nil {
			c.drop(f.kept)
			f.kept = 0
		}
		bytes := 0
		for i := range given {
			bytes += given[i].Len()
		}
		if bytes > keptArguments {
			return fn.Table(c, given, want)
		}
		k = &kept{fn: fn, args: Copies(given), want: want, columns: len(fn.Columns)}
		f.kept = c.keep(k)
	} else {
		k.again = true
	}
	if k.starts == nil && (k.large || !k.again && f.equal < 0) {
		k.writes = c.writes
		return fn.Table(c, given, want)
	}
	if k.starts == nil {
		k.writes = c.writes
		source, err := fn.Table(c, given, want)
		if err != nil {
			return nil, err
		}
		if err := k.read(source, f.batch); err != nil {
			return nil, err
		}
		if k.large {
			return fn.Table(c, given, want)
		}
	}
	if f.equal < 0 {
		return Rows(len(k.starts)-1, func(b *Batch, cells []Value, i int) { k.write(b, cells, i) }), nil
	}
	found := k.find(f.equal, f.last())
	return Rows(len(found), func(b *Batch, cells []Value, i int) { k.write(b, cells, int(found[i].row)) }), nil
}

// is tells whether the same was asked.
func (k *kept) is(fn *Function, given []Value, want Want) bool {
	if k.fn != fn || k.want != want {
		return false
	}
	for i := range given {
		v := &given[i]
		switch x := k.args[i].(type) {
		case nil:
			if !v.Null() {
				return false
			}
		case int64:
			if v.Kind != Integer || v.i != x {
				return false
			}
		case float64:
			if v.Kind != Float || uint64(v.i) != math.Float64bits(x) {
				return false
			}
		case string:
			if v.Kind != Text || string(v.Bytes()) != x {
				return false
			}
		case []byte:
			if v.Kind != Blob || string(v.Bytes()) != string(x) {
				return false
			}
		}
	}
	return true
}

// read takes all rows of a source, unless they are too large.
func (k *kept) read(source Source, b *Batch) error {
	k.rows, k.starts = k.rows[:0], []uint32{0}
	if source == nil {
		return nil
	}
	defer source.Close()
	for more := true; more; {
		var err error
		b.rows, b.used = 0, 0
		if more, err = source.Next(b); err != nil {
			k.rows, k.starts = nil, nil
			return err
		}
		for i := range int(b.rows) {
			for j := range k.columns {
				k.add(b, b.cell(i, j))
			}
			k.starts = append(k.starts, uint32(len(k.rows)))
		}
		if k.large = len(k.rows)+4*len(k.starts) > keptBytes; k.large {
			k.rows, k.starts = nil, nil
			break
		}
	}
	b.rows, b.used = 0, 0
	return nil
}

func (k *kept) add(b *Batch, v *Value) {
	k.rows = append(k.rows, byte(v.Kind))
	switch v.Kind {
	case Integer, Float:
		k.rows = binary.LittleEndian.AppendUint64(k.rows, uint64(v.i))
	case Text, Blob:
		k.rows = append(binary.LittleEndian.AppendUint64(k.rows, uint64(v.n)), b.bytes(v)...)
	}
}

// cell takes the next cell of a row.
func (k *kept) cell(at int) (kind int64, bits uint64, bytes []byte, next int) {
	kind, at = int64(k.rows[at]), at+1
	switch kind {
	case Integer, Float, Text, Blob:
		bits = binary.LittleEndian.Uint64(k.rows[at:])
		at += 8
	}
	if kind == Text || kind == Blob {
		bytes = k.rows[at:][:bits]
		at += int(bits)
	}
	return kind, bits, bytes, at
}

func (k *kept) write(b *Batch, cells []Value, row int) {
	at := int(k.starts[row])
	for j := range k.columns {
		kind, bits, bytes, next := k.cell(at)
		switch kind {
		case Integer:
			cells[j].SetInt(int64(bits))
		case Float:
			cells[j].SetFloat(math.Float64frombits(bits))
		case Text, Blob:
			b.SetBytes(&cells[j], kind, bytes)
		}
		at = next
	}
}

// find returns the rows whose value in a column may equal another, in their order.
func (k *kept) find(column int32, v *Value) []keptRow {
	index, ok := k.indexes[column]
	if !ok {
		index = make([]keptRow, 0, len(k.starts)-1)
		for row := range len(k.starts) - 1 {
			at := int(k.starts[row])
			for range column {
				_, _, _, at = k.cell(at)
			}
			if kind, bits, bytes, _ := k.cell(at); kind != Null {
				index = append(index, keptRow{hashOf(kind, bits, bytes), uint32(row)})
			}
		}
		slices.SortStableFunc(index, func(x, y keptRow) int {
			switch {
			case x.hash < y.hash:
				return -1
			case x.hash > y.hash:
				return 1
			}
			return 0
		})
		if k.indexes == nil {
			k.indexes = map[int32][]keptRow{}
		}
		k.indexes[column] = index
	}
	h := hashOf(v.Kind, uint64(v.i), v.Bytes())
	from, _ := slices.BinarySearchFunc(index, h, func(x keptRow, h uint64) int {
		switch {
		case x.hash < h:
			return -1
		case x.hash > h:
			return 1
		}
		return 0
	})
	to := from
	for to < len(index) && index[to].hash == h {
		to++
	}
	return index[from:to]
}

var hashSeed = maphash.MakeSeed()

// hashOf is the same for values that SQLite can take for equal, whatever the affinity of
// the other side: a number, and text that reads as that number.
func hashOf(kind int64, bits uint64, bytes []byte) uint64 {
	number, ok := 0.0, true
	switch kind {
	case Integer:
		number = float64(int64(bits))
	case Float:
		number = math.Float64frombits(bits)
	default:
		var err error
		number, err = strconv.ParseFloat(strings.Trim(string(bytes), " \t\n\v\f\r"), 64)
		ok = err == nil || math.IsInf(number, 0)
	}
	if !ok {
		return maphash.Bytes(hashSeed, bytes)
	}
	return maphash.Comparable(hashSeed, number+0) // the zeros are one
}
