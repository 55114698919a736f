package simindex

import (
	"cmp"
	"slices"

	"github.com/alike-sql/alike/sketch/internal/splitmix"
)

const (
	modulus = 25  // methods 3 and 4
	extreme = 400 // methods 7 to 10
	common  = 200 // method 13
	// rounds bounds method 14, whose cost is rounds times fingerprints. What is
	// left after as many rounds becomes one k-gram, however long it is.
	rounds = 100
	seed   = 2011 // of the random third of methods 11 and 12
)

// reduce filters the fingerprints of s and aggregates what is left.
func (v Variant) reduce(s *scratch) int64 {
	prints := s.prints
	if len(prints) == 0 {
		return 0
	}
	kept := s.aside[:0]
	switch v.method {
	case 1, 2:
		kept = prints
	case 3, 4:
		for _, f := range prints {
			if f%modulus == 0 {
				kept = append(kept, f)
			}
		}
	case 5, 6:
		kept = winnow(kept, prints, int(v.w))
	case 7, 8:
		kept = lowest(kept, prints, extreme, 0)
	case 9, 10:
		// The highest are the lowest of the complements. -1 - f cannot overflow.
		kept = lowest(kept, prints, extreme, -1)
		slices.Reverse(kept)
	case 11, 12:
		random := splitmix.New(seed)
		for _, f := range prints {
			if random()%3 == 0 {
				kept = append(kept, f)
			}
		}
	case 14:
		return int64(supershingle(prints, int(v.k)))
	}
	if v.method > 2 {
		s.aside = kept
	}
	if v.method%2 == 0 {
		return rabinPrints(kept)
	}
	return sumPrints(kept)
}

func sumPrints(prints []int32) int64 {
	var sum int64
	for _, f := range prints {
		sum += int64(f)
	}
	return sum
}

// rabinPrints takes the fingerprints as a polynomial over GF(2), four big-endian
// bytes each, modulo t^64 + t^4 + t^3 + t + 1. Moving up by 32 takes 32
// coefficients past t^64, and t^64 is t^4 + t^3 + t + 1, so they come back
// in the lowest 36 places and need no second reduction.
func rabinPrints(prints []int32) int64 {
	var rest uint64
	for _, f := range prints {
		over := rest >> 32
		rest = rest<<32 | uint64(uint32(f))
		rest ^= over ^ over<<1 ^ over<<3 ^ over<<4
	}
	return int64(rest)
}

// winnow appends the rightmost lowest fingerprint of each window of w, once for
// the windows in a row that agree on its position (Schleimer, Wilkerson and
// Aiken 2003). Fewer than w fingerprints are one window.
func winnow(kept, prints []int32, w int) []int32 {
	w = min(w, len(prints))
	minimum := -1 // the position of the window's minimum
	for end := w; end <= len(prints); end++ {
		start := end - w
		switch last := end - 1; {
		case minimum < start:
			// The minimum left the window, or this is the first window.
			minimum = start
			for i := start + 1; i < end; i++ {
				if prints[i] <= prints[minimum] {
					minimum = i
				}
			}
		case prints[last] <= prints[minimum]:
			minimum = last
		default:
			continue
		}
		kept = append(kept, prints[minimum])
	}
	return kept
}

// lowest appends the n lowest of prints ^ flip, in ascending order, each as it
// was in prints.
func lowest(kept, prints []int32, n int, flip int32) []int32 {
	// Collect a few times n, cut back to n, and from then on let only those below
	// the highest kept in.
	room := 4 * n
	limit, full := int32(0), false
	for _, f := range prints {
		f ^= flip
		if full && f >= limit {
			continue
		}
		if kept = append(kept, f); len(kept) == room {
			slices.Sort(kept)
			kept = kept[:n]
			limit, full = kept[n-1], true
		}
	}
	slices.Sort(kept)
	kept = kept[:min(n, len(kept))]
	for i := range kept {
		kept[i] ^= flip
	}
	return kept
}

// supershingle replaces the fingerprints by those of their k-grams, and those
// again, until one is left. A fingerprint of fingerprints is Java's hash of a
// string with the fingerprints for characters. It works in prints.
func supershingle(prints []int32, k int) int32 {
	out := uint32(1)
	for range k {
		out *= javaBase
	}
	for round := 0; round < rounds && len(prints) > k; round++ {
		var hash uint32
		for _, f := range prints[:k] {
			hash = hash*javaBase + uint32(f)
		}
		// A fingerprint is overwritten after it has left the window.
		for i, f := range prints[k:] {
			leaving := uint32(prints[i])
			prints[i] = int32(hash)
			hash = hash*javaBase + uint32(f) - leaving*out
		}
		last := len(prints) - k
		prints[last] = int32(hash)
		prints = prints[:last+1]
	}
	if len(prints) == 1 {
		return prints[0]
	}
	var hash uint32
	for _, f := range prints {
		hash = hash*javaBase + uint32(f)
	}
	return int32(hash)
}

// sumFrequent sums the fingerprints of the most frequent words, of which those
// that came first win a tie.
func (s *scratch) sumFrequent() int64 {
	list := s.words.list
	slices.SortFunc(list, func(a, b countedWord) int {
		if a.count != b.count {
			return cmp.Compare(b.count, a.count)
		}
		return cmp.Compare(a.start, b.start)
	})
	grams := wordGrams{k: 1, starts: s.starts, prints: s.prints}
	var sum int64
	for _, w := range list[:min(common, len(list))] {
		grams.starts, grams.prints = grams.starts[:0], grams.prints[:0]
		grams.add(s.words.text[w.start:w.end])
		sum += int64(grams.prints[0])
	}
	s.starts, s.prints = grams.starts, grams.prints
	return sum
}
