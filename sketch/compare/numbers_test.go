package compare

import "testing"

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Grouped(0), "0"}, {Grouped(999), "999"}, {Grouped(1000), "1,000"}, {Grouped(-1234567), "-1,234,567"}, {Grouped(-100), "-100"},
		{ByteCount(1023), "1,023 bytes"}, {ByteCount(1024), "1 KB"}, {ByteCount(1<<20 - 1), "1024 KB"}, {ByteCount(1 << 20), "1 MB"}, {ByteCount(3 << 19), "1.5 MB"},
		{Percent(0), "0 %"}, {Percent(1), "100 %"}, {Percent(0.0004), "under 0.1 %"}, {Percent(0.0005), "0.1 %"}, {Percent(0.9995), "over 99.9 %"},
		{Percent(0.05), "5.0 %"}, {Percent(0.1), "10 %"}, {Percent(0.99), "99 %"}, {Percent(0.991), "99.1 %"},
		{Plural(0, "row", "rows"), "0 rows"}, {Plural(1, "row", "rows"), "1 row"}, {Plural(int64(1), "row", "rows"), "1 row"}, {Plural(1234, "row", "rows"), "1,234 rows"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
