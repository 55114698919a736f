package simindex

import (
	"hash/maphash"
	"unicode"
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch/internal/token"
)

// scratch holds what computing one similarity index needs, reused from
// document to document.
type scratch struct {
	prints []int32 // fingerprints of the k-grams in document order
	aside  []int32 // what a filter keeps, or works with
	units  []uint16
	starts []uint32
	word   []byte
	code   []byte
	words  wordTable
}

// small reports whether keeping s costs little memory.
func (s *scratch) small() bool {
	const limit = 1 << 20
	return cap(s.prints) <= limit && cap(s.aside) <= limit && cap(s.units) <= limit && cap(s.starts) <= limit &&
		cap(s.word) <= limit && cap(s.words.text) <= limit && cap(s.words.list) <= limit
}

// Classes of ASCII bytes; a letter in either case and a digit are their own
// lower case.
const (
	classSeparator  = 0
	classApostrophe = 1
	classBeyond     = 2 // not ASCII
)

var classes = func() (class [256]byte) {
	for c := range class {
		switch {
		case c >= utf8.RuneSelf:
			class[c] = classBeyond
		case 'A' <= c && c <= 'Z':
			class[c] = byte(c) + 'a' - 'A'
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			class[c] = byte(c)
		case c == '\'':
			class[c] = classApostrophe
		}
	}
	return class
}()

// nextWord appends to word the word that begins at or after position i of doc,
// in lower case, and gives the position behind it. Words are runs of letters,
// marks and digits; one apostrophe between two of them belongs to the word and
// is appended as '. Everything else separates, bad UTF-8 too.
func nextWord(word, doc []byte, i int) (_ []byte, apostrophe bool, _ int) {
	for i < len(doc) {
		c := classes[doc[i]]
		if c > classBeyond {
			word = append(word, c)
			i++
			continue
		}
		if c == classBeyond {
			r, size := utf8.DecodeRune(doc[i:])
			switch {
			case isLetter(r):
				word = utf8.AppendRune(word, unicode.ToLower(r))
				i += size
				continue
			case r == '’' && len(word) > 0 && letterAt(doc, i+size):
				word = append(word, '\'')
				apostrophe = true
				i += size
				continue
			}
			i += size
		} else {
			i++
			if c == classApostrophe && len(word) > 0 && letterAt(doc, i) {
				word = append(word, '\'')
				apostrophe = true
				continue
			}
		}
		if len(word) > 0 {
			break
		}
	}
	return word, apostrophe, i
}

func isLetter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r))
}

func letterAt(doc []byte, i int) bool {
	if i >= len(doc) {
		return false
	}
	if c := classes[doc[i]]; c != classBeyond {
		return c > classBeyond
	}
	r, _ := utf8.DecodeRune(doc[i:])
	return isLetter(r)
}

// read turns doc into the fingerprints of its k-grams, or for the most frequent
// words into the counted words alone. A document of fewer than k tokens is one
// k-gram.
func (s *scratch) read(v Variant, doc []byte) {
	s.prints = s.prints[:0]
	dropStop := v.variation == 'B' || v.variation == 'D'
	dropOther := v.variation == 'C' || v.variation == 'D' // vowels or duplicates
	counting := v.method == frequent || dropOther && v.stream != characters
	if counting {
		s.words.reset()
	}
	grams := wordGrams{k: int(v.k), starts: s.starts[:0], prints: s.prints, length: 1}
	s.units = s.units[:0]

	apostrophe := false
	for i := 0; ; {
		s.word, apostrophe, i = nextWord(s.word[:0], doc, i)
		word := s.word
		if len(word) == 0 {
			break
		}
		if dropStop && token.IsStopWord(word) {
			continue
		}
		if apostrophe {
			word = dropByte(word, '\'')
		}
		if v.stream == characters {
			s.units = appendUnits(s.units, word, dropOther)
			continue
		}
		if v.stream == soundex {
			s.code = token.AppendSoundex(s.code[:0], word)
			word = s.code
			if len(word) == 0 {
				continue
			}
		}
		if counting {
			if first := s.words.add(word); v.method == frequent || dropOther && !first {
				continue
			}
		}
		grams.add(word)
	}
	if v.stream == characters {
		s.prints = appendCharGrams(s.prints, s.units, int(v.k))
		return
	}
	s.prints, s.starts = grams.finish(), grams.starts
	if v.method == frequent && dropOther {
		s.words.once()
	}
}

func dropByte(b []byte, drop byte) []byte {
	kept := b[:0]
	for _, c := range b {
		if c != drop {
			kept = append(kept, c)
		}
	}
	return kept
}

// appendUnits appends the UTF-16 units of word, the characters of Java,
// without the vowels a, e, i, o and u if asked.
func appendUnits(units []uint16, word []byte, dropVowels bool) []uint16 {
	for i := 0; i < len(word); {
		c := word[i]
		if c < utf8.RuneSelf {
			i++
			if !dropVowels || !isVowel(c) {
				units = append(units, uint16(c))
			}
			continue
		}
		r, size := utf8.DecodeRune(word[i:])
		i += size
		if r >= 0x10000 {
			r -= 0x10000
			units = append(units, 0xd800+uint16(r>>10))
			r = 0xdc00 + r&0x3ff
		}
		units = append(units, uint16(r))
	}
	return units
}

func isVowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	}
	return false
}

// The hash of Java's String.hashCode is the value at 31 of the polynomial whose
// coefficients are the UTF-16 units, first unit highest, modulo 2^32. So the
// hash of a substring follows from the hashes of two prefixes, and 31, being
// odd, has an inverse:
//
//	hash(s[i:j]) = hash(s[:j]) - hash(s[:i]) 31^(j-i)
const (
	javaBase    = 31
	javaInverse = 0xbdef7bdf // 31 javaInverse = 1 modulo 2^32
)

// appendCharGrams appends the fingerprint of each run of k units.
func appendCharGrams(prints []int32, units []uint16, k int) []int32 {
	if len(units) == 0 {
		return prints
	}
	if k > len(units) {
		k = len(units)
	}
	hash, out := uint32(0), uint32(1)
	for _, u := range units[:k] {
		hash = hash*javaBase + uint32(u)
		out *= javaBase
	}
	prints = append(prints, int32(hash))
	leaving := units[:len(units)-k]
	for i, u := range units[k:] {
		hash = hash*javaBase + uint32(u) - uint32(leaving[i])*out
		prints = append(prints, int32(hash))
	}
	return prints
}

// wordGrams fingerprints each run of k words, joined by one space.
type wordGrams struct {
	k      int
	prefix uint32   // hash of the words so far, joined by one space
	length uint32   // 31 to the number of their units
	unlong uint32   // and its inverse
	starts []uint32 // for each word, hash(s[:i]) 31^-i, i where it starts
	prints []int32
}

func (g *wordGrams) add(word []byte) {
	if len(g.starts) == 0 {
		g.prefix, g.length, g.unlong = 0, 1, 1
	} else {
		g.prefix = g.prefix*javaBase + ' '
		g.length *= javaBase
		g.unlong *= javaInverse
	}
	g.starts = append(g.starts, g.prefix*g.unlong)
	prefix, length, unlong := g.prefix, g.length, g.unlong
	for i := 0; i < len(word); {
		u := uint32(word[i])
		if u < utf8.RuneSelf {
			i++
		} else {
			r, size := utf8.DecodeRune(word[i:])
			i += size
			u = uint32(r)
			if r >= 0x10000 {
				u -= 0x10000
				prefix = prefix*javaBase + 0xd800 + u>>10
				length *= javaBase
				unlong *= javaInverse
				u = 0xdc00 + u&0x3ff
			}
		}
		prefix = prefix*javaBase + u
		length *= javaBase
		unlong *= javaInverse
	}
	g.prefix, g.length, g.unlong = prefix, length, unlong
	if n := len(g.starts); n >= g.k {
		g.prints = append(g.prints, int32(prefix-g.starts[n-g.k]*length))
	}
}

func (g *wordGrams) finish() []int32 {
	if len(g.prints) == 0 && len(g.starts) > 0 {
		g.prints = append(g.prints, int32(g.prefix))
	}
	return g.prints
}

// wordTable counts distinct words in the order of their first occurrence.
type wordTable struct {
	text  []byte // the distinct words, one behind the other
	list  []countedWord
	slots []int32 // open addressing: index into list plus one, 0 is free
	seed  maphash.Seed
}

type countedWord struct {
	hash       uint64
	start, end int
	count      int
}

func (t *wordTable) reset() {
	switch {
	case t.slots == nil:
		t.seed = maphash.MakeSeed()
		t.slots = make([]int32, 1024)
	case len(t.slots) > 1<<15: // a long document's; clearing it would cost the short ones
		t.slots = make([]int32, 1024)
	default:
		clear(t.slots)
	}
	t.text, t.list = t.text[:0], t.list[:0]
}

// add counts word and reports whether it was new.
func (t *wordTable) add(word []byte) bool {
	if 2*len(t.list) >= len(t.slots) {
		t.grow()
	}
	// A seeded hash, since words that collide under Java's are easily written.
	hash := maphash.Bytes(t.seed, word)
	slot := t.find(hash, word)
	if i := t.slots[slot]; i != 0 {
		t.list[i-1].count++
		return false
	}
	start := len(t.text)
	t.text = append(t.text, word...)
	t.list = append(t.list, countedWord{hash: hash, start: start, end: len(t.text), count: 1})
	t.slots[slot] = int32(len(t.list))
	return true
}

// find gives the slot of word, or the free one where it belongs.
func (t *wordTable) find(hash uint64, word []byte) int {
	mask := len(t.slots) - 1
	slot := int(hash) & mask
	for ; t.slots[slot] != 0; slot = (slot + 1) & mask {
		w := &t.list[t.slots[slot]-1]
		if w.hash == hash && string(t.text[w.start:w.end]) == string(word) {
			break
		}
	}
	return slot
}

func (t *wordTable) grow() {
	t.slots = make([]int32, 2*len(t.slots))
	for i, w := range t.list {
		t.slots[t.find(w.hash, t.text[w.start:w.end])] = int32(i + 1)
	}
}

// once forgets the counts: duplicates were removed from the stream.
func (t *wordTable) once() {
	for i := range t.list {
		t.list[i].count = 1
	}
}
