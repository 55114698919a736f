package sketch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// The stored form, version 1: a header of 22 bytes that spells the profile,
// then the sample. Integers are big-endian. FORMAT.md beside this file
// specifies it for other implementations.
const (
	magic      = 0xA1
	version    = 1
	headerSize = 22
)

const (
	flagCase = 1 << iota
	flagStopWords
	flagVowels
	flagDuplicates
	flagBag
	flagNumbers
	flagIDs
	flagDates
)

// What is wrong with a blob that is not accepted as a sketch, or with two that
// cannot be compared; errors.Is tells.
var (
	ErrForeign   = errors.New("not a sketch")                   // it does not begin as a sketch does
	ErrTruncated = errors.New("incomplete sketch")              // it ends too early
	ErrNewer     = errors.New("sketch of another version")      // this build cannot read its version
	ErrDamaged   = errors.New("damaged sketch")                 // AppendSketch did not write it
	ErrProfile   = errors.New("sketches of different profiles") // each is sound, but they do not compare
	ErrTokens    = errors.New("sketches of different builds")   // they do not compare: their tokens differ
	ErrBits      = errors.New("sketch without whole minima")    // a cut sketch, where all 64 bits are needed
)

// A decodeError is one of the above with a text of its own.
type decodeError struct {
	kind error
	text string
}

func (e *decodeError) Error() string      { return e.text }
func (e *decodeError) Is(kind error) bool { return kind == e.kind }

func undecodable(kind error, format string, args ...any) error {
	return &decodeError{kind, fmt.Sprintf("sketch: decode: "+format, args...)}
}

// maxSketch bounds a stored sketch before it is looked at: a list of 2^27 values.
const maxSketch = headerSize + 8<<27

// A blob is a stored sketch whose header and length have been checked.
type blob struct {
	Profile
	exponent int    // Scaled: the values are multiples of 2^exponent
	filled   []byte // Bins: one bit a slot
	payload  []byte // slots or values
}

func appendHeader(dst []byte, p Profile, exponent int) []byte {
	dst = append(dst, magic, version, byte(p.Stream), p.flags(), byte(p.Family), byte(p.Bits))
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.W))
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.T))
	dst = append(dst, byte(p.K), byte(p.S), byte(p.R), byte(exponent))
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.Size))
	dst = binary.BigEndian.AppendUint32(dst, uint32(p.Modulus)|p.Without) // one of them is 0
	return binary.BigEndian.AppendUint16(dst, p.TokensFingerprint())
}

// flags are those of the header.
func (p *Profile) flags() (flags byte) {
	for i, set := range [...]bool{p.ReverseFolding, p.StopWords, p.Vowels, p.Duplicates, p.Bag, p.Numbers, p.IDs, p.Dates} {
		if set {
			flags |= 1 << i
		}
	}
	return flags
}

func (p *Profile) setFlags(flags byte) {
	p.ReverseFolding = flags&flagCase != 0
	p.StopWords = flags&flagStopWords != 0
	p.Vowels = flags&flagVowels != 0
	p.Duplicates = flags&flagDuplicates != 0
	p.Bag = flags&flagBag != 0
	p.Numbers = flags&flagNumbers != 0
	p.IDs = flags&flagIDs != 0
	p.Dates = flags&flagDates != 0
}

// parse checks all of b but the order of a list's values, see Check.
func parse(b []byte) (k blob, err error) {
	err = k.parse(b)
	return k, err
}

// parse in place, for the functions that take nanoseconds, leaves no blob of
// use when it fails.
func (k *blob) parse(b []byte) error {
	if len(b) < headerSize {
		kind := ErrTruncated
		if len(b) > 0 && b[0] != magic {
			kind = ErrForeign
		}
		return undecodable(kind, "%d bytes, want at least %d", len(b), headerSize)
	}
	if b[0] != magic {
		return undecodable(ErrForeign, "first byte %#02x, want %#02x: not a sketch", b[0], magic)
	}
	if b[1] != version {
		return undecodable(ErrNewer, "version %d, this build reads %d", b[1], version)
	}
	if len(b) > maxSketch {
		return undecodable(ErrDamaged, "%d bytes, want at most %d", len(b), maxSketch)
	}
	k.readHeader(b)
	if err := k.validate(); err != nil {
		return undecodable(ErrDamaged, "%v", err)
	}
	if tokens := binary.BigEndian.Uint16(b[20:]); tokens == tokensOf(k.Stream, b[3]) {
		k.Tokens = 0
	} else if tokens == 0 || k.Stream == Elements {
		return undecodable(ErrDamaged, "tokens %04x under the stream %s", tokens, k.Stream)
	} else {
		k.Tokens = tokens
	}
	if k.exponent > 63 || k.exponent != 0 && k.Family != Scaled {
		return undecodable(ErrDamaged, "exponent %d in a sketch of the family %s", k.exponent, k.Family)
	}
	if !families[k.Family].slots {
		n := len(k.payload) / 8
		switch {
		case len(k.payload)%8 != 0:
			return undecodable(ErrTruncated, "%d bytes of values, want a multiple of 8", len(k.payload))
		case n == 0 && k.Family == Bottom && k.Modulus == 0:
			return undecodable(ErrDamaged, "no values")
		case k.Family == Bottom && n > k.Size:
			return undecodable(ErrDamaged, "%d values, want at most %d", n, k.Size)
		case k.Family == Scaled && n > scaledMost:
			return undecodable(ErrDamaged, "%d values, want at most %d", n, scaledMost)
		}
		return nil
	}
	want := (k.T*k.Bits + 7) / 8
	if k.Family == Bins {
		bitmap := (k.T + 7) / 8
		want += bitmap
		if len(k.payload) >= bitmap {
			k.filled, k.payload = k.payload[:bitmap], k.payload[bitmap:]
		}
	}
	if len(b)-headerSize != want {
		kind := ErrDamaged
		if len(b)-headerSize < want {
			kind = ErrTruncated
		}
		return undecodable(kind, "%d bytes after the header, want %d", len(b)-headerSize, want)
	}
	return nil
}

// readHeader takes the fields one by one: a composite literal would be built
// elsewhere and copied in words that wait for its bytes.
func (k *blob) readHeader(b []byte) {
	_ = b[headerSize-1]
	k.Stream, k.Family = Stream(b[2]), Family(b[4])
	k.setFlags(b[3])
	k.Bits = int(b[5])
	k.W, k.T = int(binary.BigEndian.Uint16(b[6:])), int(binary.BigEndian.Uint16(b[8:]))
	k.K, k.S, k.R = int(b[10]), int(b[11]), int(b[12])
	k.exponent = int(b[13])
	k.Size, k.Modulus, k.Without = int(binary.BigEndian.Uint16(b[14:])), 0, binary.BigEndian.Uint32(b[16:])
	if k.Family == Bottom || k.Family == Mod {
		k.Modulus, k.Without = int(k.Without), 0
	}
	k.Tokens = 0 // parse looks at it
	k.filled, k.payload = nil, b[headerSize:]
}

// ProfileOf returns the profile that a stored sketch was made under.
func ProfileOf(b []byte) (Profile, error) {
	k, err := parse(b)
	return k.Profile, err
}

// Check returns nil when b is a sketch that AppendSketch could have written:
// beyond what every function checks, the values of a list ascend and obey its
// modulus, and unused bits are zero.
func Check(b []byte) error {
	k, err := parse(b)
	if err != nil {
		return err
	}
	if !k.Slots() {
		values, err := k.values()
		if err != nil {
			return err
		}
		for _, v := range values {
			if k.Modulus > 0 && v%uint64(k.Modulus) != 0 {
				return undecodable(ErrDamaged, "value %d is not a multiple of %d", v, k.Modulus)
			}
			if v&(1<<k.exponent-1) != 0 {
				return undecodable(ErrDamaged, "value %d is not a multiple of 2^%d", v, k.exponent)
			}
		}
		return nil
	}
	if spare := len(k.payload)*8 - k.T*k.Bits; spare > 0 && k.payload[len(k.payload)-1]&(1<<spare-1) != 0 {
		return undecodable(ErrDamaged, "bits after the last slot")
	}
	if k.Family == Bins {
		empty := true
		for i := range len(k.filled) * 8 {
			switch {
			case k.isFilled(i) && i >= k.T:
				return undecodable(ErrDamaged, "bits after the last bin")
			case k.isFilled(i):
				empty = false
			case i < k.T && k.slot(i) != 0:
				return undecodable(ErrDamaged, "bin %d is empty but has a value", i)
			}
		}
		if empty {
			return undecodable(ErrDamaged, "every bin is empty")
		}
	}
	return nil
}

// slot returns the bits of slot i that are stored.
func (k *blob) slot(i int) uint64 {
	if k.Bits == 64 {
		return binary.BigEndian.Uint64(k.payload[8*i:])
	}
	at := i * k.Bits
	return uint64(k.payload[at/8]) >> (8 - k.Bits - at%8) & (1<<k.Bits - 1)
}

func (k *blob) isFilled(i int) bool { return k.filled[i/8]>>(7-i%8)&1 != 0 }

// values returns a list's values, checked to ascend.
func (k *blob) values() ([]uint64, error) {
	values := make([]uint64, len(k.payload)/8)
	for i := range values {
		values[i] = binary.BigEndian.Uint64(k.payload[8*i:])
		if i > 0 && values[i] <= values[i-1] {
			return nil, undecodable(ErrDamaged, "value %d of the list does not ascend", i)
		}
	}
	return values, nil
}

// fullSlots returns the 64-bit slots of a sketch, with EmptySlot for empty bins. A
// list has slots too: the classic minima over its values.
func (k *blob) fullSlots(use string) ([]uint64, error) {
	if !k.Slots() {
		values, err := k.values()
		if err != nil {
			return nil, err
		}
		return newClassic(k.T).over(values), nil
	}
	if k.Bits != 64 {
		return nil, &decodeError{ErrBits, fmt.Sprintf("sketch: %s needs whole minima, this sketch keeps %d bits of each", use, k.Bits)}
	}
	slots := make([]uint64, k.T)
	for i := range slots {
		slots[i] = k.slot(i)
		if k.Family == Bins && !k.isFilled(i) {
			slots[i] = kernel.EmptySlot
		}
	}
	return slots, nil
}

// appendSlots writes slots at the bits of the profile.
func appendSlots(dst []byte, p Profile, slots []uint64) []byte {
	if p.Family == Bins {
		at := len(dst)
		dst = append(dst, make([]byte, (len(slots)+7)/8)...)
		for i, v := range slots {
			if v != kernel.EmptySlot {
				dst[at+i/8] |= 0x80 >> (i % 8)
			}
		}
	}
	at := len(dst)
	if p.Bits == 64 {
		for _, v := range slots {
			dst = binary.BigEndian.AppendUint64(dst, v)
		}
	} else {
		n := len(slots)
		dst = slices.Grow(dst, n+7)[:at+n+7]
		clear(dst[at+n:])
		kernel.CutBytes(dst[at:at+n], slots)
		if p.Bits < 8 {
			packBits(dst[at:], p.Bits)
		}
		dst = dst[:at+(n*p.Bits+7)/8]
	}
	out := dst[at:]
	if p.Family == Bins {
		clearEmpty(out, p.Bits, slots)
	}
	return dst
}

// packBits moves the first b bits of each byte together, eight bytes at a time; behind
// them it leaves what it likes.
func packBits(bytes []byte, b int) {
	first := func(lane, n int) uint64 { // the first n bits of each lane
		return (1<<n - 1) << (lane - n) * (^uint64(0) / (1<<lane - 1))
	}
	one, two, four := first(8, b), first(16, 2*b), first(32, 4*b)
	out := bytes
	for ; len(bytes) >= 8; bytes = bytes[8:] {
		v := binary.BigEndian.Uint64(bytes) & one
		v = (v | v<<(8-b)) & two
		v = (v | v<<(16-2*b)) & four
		v |= v << (32 - 4*b)
		binary.BigEndian.PutUint64(out, v) // never past what was read
		out = out[b:]
	}
}

// clearEmpty writes zeros for the empty slots of a sample.
func clearEmpty(out []byte, b int, slots []uint64) {
	for i, v := range slots {
		switch {
		case v != kernel.EmptySlot:
		case b == 64:
			clear(out[8*i:][:8])
		default:
			out[i*b/8] &^= byte(1<<b-1) << (8 - b - i*b%8)
		}
	}
}

func appendValues(dst []byte, values []uint64) []byte {
	for _, v := range values {
		dst = binary.BigEndian.AppendUint64(dst, v)
	}
	return dst
}

// Cut appends to dst the sketch b cut to the given bits of each slot, 1, 2, 4
// or 8. When b has no more bits than that, Cut appends it unchanged.
func Cut(dst, b []byte, bits int) ([]byte, error) {
	k, err := parse(b)
	if err != nil {
		return dst, err
	}
	if bits >= k.Bits {
		return append(dst, b...), nil
	}
	p := k.Profile
	p.Bits = bits
	if err := p.Validate(); err != nil {
		return dst, fmt.Errorf("sketch: cut: %w", err)
	}
	if k.Bits == 64 {
		slots, err := k.fullSlots("cut")
		if err != nil {
			return dst, err
		}
		return appendSlots(appendHeader(dst, p, 0), p, slots), nil
	}
	dst = append(appendHeader(dst, p, 0), k.filled...)
	var packed, used int
	for i := range k.T {
		packed = packed<<bits | int(k.slot(i)>>(k.Bits-bits))
		if used += bits; used == 8 {
			dst, packed, used = append(dst, byte(packed)), 0, 0
		}
	}
	if used > 0 {
		dst = append(dst, byte(packed<<(8-used)))
	}
	return dst, nil
}
