package sqlite

import (
	"fmt"
	"math"
	"unsafe"
)

// Value is alike_value: an argument, a column, a cell of a batch. The address is a
// number to Go, since the collector must not follow it after SQLite has freed it.
type Value struct {
	Kind int64
	i    int64
	n    int64
	p    uintptr
}

func (v *Value) pointer() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&v.p)) }

// Null tells whether the value is NULL.
func (v *Value) Null() bool { return v.Kind == Null }

// Int is an integer; of any other value it means nothing.
func (v *Value) Int() int64 { return v.i }

// Len is the length of text or a blob in bytes.
func (v *Value) Len() int { return int(v.n) }

// Bytes is a view of text or a blob, valid until the call returns.
func (v *Value) Bytes() []byte {
	if v.n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(v.pointer()), int(v.n))
}

// Text is a copy of text or a blob.
func (v *Value) Text() string { return string(v.Bytes()) }

// Number is an integer or a float as a float; text is not converted.
func (v *Value) Number() (float64, bool) {
	switch v.Kind {
	case Integer:
		return float64(v.i), true
	case Float:
		return math.Float64frombits(uint64(v.i)), true
	}
	return 0, false
}

// Whole reads an argument that must be a whole number.
func (v *Value) Whole(name string) (int, error) {
	if v.Kind != Integer || v.i != int64(int32(v.i)) {
		return 0, fmt.Errorf("%s is %s, want a whole number", name, v.Describe())
	}
	return int(v.i), nil
}

// Fraction reads an argument that must lie between 0 and 1.
func (v *Value) Fraction(name string) (float64, error) {
	d, ok := v.Number()
	if !ok || !(d >= 0 && d <= 1) {
		return 0, fmt.Errorf("%s is %s, want a number from 0 to 1", name, v.Describe())
	}
	return d, nil
}

// Describe names a value in an error, shortened.
func (v *Value) Describe() string {
	switch v.Kind {
	case Integer:
		return fmt.Sprintf("the integer %d", v.i)
	case Float:
		return fmt.Sprintf("the number %g", math.Float64frombits(uint64(v.i)))
	case Text:
		return fmt.Sprintf("%.60q", v.Text())
	case Blob:
		return fmt.Sprintf("a blob of %d bytes", v.n)
	}
	return "NULL"
}

// String is a value as a person reads it.
func (v *Value) String() string {
	switch v.Kind {
	case Integer:
		return fmt.Sprint(v.i)
	case Float:
		return fmt.Sprint(math.Float64frombits(uint64(v.i)))
	case Text:
		return v.Text()
	case Blob:
		return fmt.Sprintf("x'%x'", v.Bytes())
	}
	return "NULL"
}

// Copy is the value as one of Go's: nil, int64, float64, string or []byte.
func (v *Value) Copy() any {
	switch v.Kind {
	case Integer:
		return v.i
	case Float:
		return math.Float64frombits(uint64(v.i))
	case Text:
		return v.Text()
	case Blob:
		return append([]byte{}, v.Bytes()...)
	}
	return nil
}

// Copies copies a row, which SQLite takes back at the next step.
func Copies(row []Value) []any {
	list := make([]any, len(row))
	for i := range row {
		list[i] = row[i].Copy()
	}
	return list
}

// SetInt makes the value an integer.
func (v *Value) SetInt(i int64) { v.Kind, v.i = Integer, i }

// SetFloat makes the value a float.
func (v *Value) SetFloat(d float64) { v.Kind, v.i = Float, int64(math.Float64bits(d)) }
