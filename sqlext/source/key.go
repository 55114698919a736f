package source

import (
	"encoding/binary"
	"fmt"
	"math"
)

// EncodeKey writes the values of a key with their types, so that the key can be asked for again.
func EncodeKey(values []any) string {
	var b []byte
	for _, v := range values {
		switch v := v.(type) {
		case int64:
			b = binary.BigEndian.AppendUint64(append(b, 'i'), uint64(v))
		case float64:
			b = binary.BigEndian.AppendUint64(append(b, 'r'), math.Float64bits(v))
		case []byte:
			b = append(binary.AppendUvarint(append(b, 'b'), uint64(len(v))), v...)
		default:
			text := fmt.Sprint(v) // which need not be UTF-8
			b = append(binary.AppendUvarint(append(b, 't'), uint64(len(text))), text...)
		}
	}
	return string(b)
}

// DecodeKey reads what EncodeKey wrote. For anything else it returns nil.
func DecodeKey(key string) (values []any) {
	for b := []byte(key); len(b) > 0; {
		kind := b[0]
		b = b[1:]
		switch kind {
		case 'i', 'r':
			if len(b) < 8 {
				return nil
			}
			bits := binary.BigEndian.Uint64(b)
			b = b[8:]
			if kind == 'i' {
				values = append(values, int64(bits))
			} else {
				values = append(values, math.Float64frombits(bits))
			}
		case 'b', 't':
			length, n := binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				return nil
			}
			part := b[n : n+int(length)]
			b = b[n+int(length):]
			if kind == 'b' {
				values = append(values, part)
			} else {
				values = append(values, string(part))
			}
		default:
			return nil
		}
	}
	return values
}
