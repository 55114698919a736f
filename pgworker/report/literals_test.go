package report

import (
	"slices"
	"testing"
)

func TestLiterals(t *testing.T) {
	for in, want := range map[string]string{
		`O'Hara\`:  `'O''Hara\'`,
		"a\u202eb": `U&'a\+00202Eb'`,
		"a\n'\\":   `U&'a\+00000A''\\'`,
		"é":        `'é'`,
		"":         `''`,
	} {
		if got := postgresText(in); got != want {
			t.Errorf("PostgreSQL: %q is %s, want %s", in, got, want)
		}
	}
	for _, c := range []struct {
		in   any
		want string
	}{
		{int64(-3), "-3"}, {1.5, "1.5e+00"}, {[]byte{0, 255}, "x'00ff'"}, {"O'Hara", "'O''Hara'"}, {"", "''"},
		{"a\x00\u202e'", "'a' || char(0) || char(8238) || ''''"}, {"\xff", "cast(x'ff' as text)"},
	} {
		if got := sqliteLiteral(c.in); got != c.want {
			t.Errorf("SQLite: %q is %s, want %s", c.in, got, c.want)
		}
	}
	key := []any{int64(-7), 2.5, "a'b\x00", []byte{1, 2}}
	if got := decodeKey(encodeKey(key)); len(got) != 4 || got[0] != key[0] || got[1] != key[1] || got[2] != key[2] || !slices.Equal(got[3].([]byte), []byte{1, 2}) {
		t.Errorf("the key comes back as %q", got)
	}
}

// A key of several columns is written as alike_mark reads it: JSON has no blobs.
func TestSQLiteKeys(t *testing.T) {
	for want, key := range map[string][]any{
		`x'00ff'`:                      {[]byte{0, 255}},
		`json_array('\x00ff', 'b', 3)`: {[]byte{0, 255}, "b", int64(3)},
	} {
		if got := sqliteKey(encodeKey(key)); got != want {
			t.Errorf("%v is %s, want %s", key, got, want)
		}
	}
}

func TestSizeBands(t *testing.T) {
	for n := 2; n < 3000; n++ {
		if low, high := bandSizes(sizeBand(n)); n < low || n > high {
			t.Errorf("%d is in the band from %d to %d", n, low, high)
		}
	}
}
