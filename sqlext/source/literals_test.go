package source

import (
	"slices"
	"testing"

	"github.com/alike-sql/alike/sketch/report"
)

func TestLiterals(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
	}{
		{int64(-3), "-3"}, {1.5, "1.5e+00"}, {[]byte{0, 255}, "x'00ff'"}, {"O'Hara", "'O''Hara'"}, {"", "''"},
		{"a\x00\u202e'", "'a' || char(0) || char(8238) || ''''"}, {"\xff", "cast(x'ff' as text)"},
	} {
		if got := sqliteLiteral(c.in); got != c.want {
			t.Errorf("%q is %s, want %s", c.in, got, c.want)
		}
	}
	key := []any{int64(-7), 2.5, "a'b\x00", []byte{1, 2}}
	if got := DecodeKey(EncodeKey(key)); len(got) != 4 || got[0] != key[0] || got[1] != key[1] || got[2] != key[2] || !slices.Equal(got[3].([]byte), []byte{1, 2}) {
		t.Errorf("the key comes back as %q", got)
	}
	for _, value := range append(key, "") {
		for n, encoded := 1, EncodeKey([]any{value}); n < len(encoded); n++ {
			if got := DecodeKey(encoded[:n]); got != nil {
				t.Errorf("%q is half a key, and comes back as %q", encoded[:n], got)
			}
		}
	}
	if got := DecodeKey("z"); got != nil {
		t.Errorf("z is no key, and comes back as %q", got)
	}
}

// A key of several columns is written as alike_mark reads it: JSON has no blobs.
func TestSQLiteKeys(t *testing.T) {
	for want, key := range map[string][]any{
		`x'00ff'`:                      {[]byte{0, 255}},
		`json_array('\x00ff', 'b', 3)`: {[]byte{0, 255}, "b", int64(3)},
	} {
		if got := sqliteKey(EncodeKey(key)); got != want {
			t.Errorf("%v is %s, want %s", key, got, want)
		}
	}
}

func TestStatements(t *testing.T) {
	a := &report.Attachment{Section: &report.Section{Name: `o'dd "x"`}}
	if got, want := (&sqlite{}).Clusters(a), `select * from alike_clusters('"o''dd ""x"""');`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
