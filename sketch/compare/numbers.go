package compare

import (
	"fmt"
	"strconv"
	"strings"
)

// Grouped writes a whole number with commas between the thousands.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// ByteCount writes a number of bytes for people.
func ByteCount(n int64) string {
	switch {
	case n >= 1<<20:
		return strings.Replace(fmt.Sprintf("%.1f MB", float64(n)/(1<<20)), ".0 ", " ", 1)
	case n >= 1<<10:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	}
	return Grouped(n) + " bytes"
}

// Percent writes a fraction as a percentage, with more digits when it is small.
func Percent(share float64) string {
	switch {
	case share == 0 || share == 1:
		return fmt.Sprintf("%.0f %%", 100*share)
	case share < 0.0005:
		return "under 0.1 %"
	case share >= 0.9995:
		return "over 99.9 %"
	case share < 0.1 || share > 0.99:
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// Plural writes a number with its noun.
func Plural(n any, one, many string) string {
	var v int64
	switch n := n.(type) {
	case int:
		v = int64(n)
	case int64:
		v = n
	}
	if v == 1 {
		return "1 " + one
	}
	return Grouped(v) + " " + many
}
