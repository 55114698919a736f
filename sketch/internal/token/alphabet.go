package token

import (
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// A letter is how a character reads in canonical text when nothing combines
// with it: an entry of the table that makes canonicalisation one look-up a
// character.
//
//	bits 0-23  its canonical form in UTF-8, the first byte lowest
//	bits 24-25 the length of that, or 0 when it is more than 3 bytes or not of
//	           one class; bits 0-23 are then its number, from 1, among the
//	           long forms, or 0 when the character stays as it is
//	bits 26-28 the class of the form's characters
//	bit 29     it may combine with the character before it, or trade places
//	bit 30     the form is a symbol, see isSymbol
type letter uint32

const (
	letterLength = 24
	letterClass  = 26
	letterJoins  = letter(1) << 29
	letterSymbol = letter(1) << 30
	letterForm   = 1<<letterLength - 1
)

func (l letter) length() int  { return int(l >> letterLength & 3) }
func (l letter) class() class { return class(l >> letterClass & 7) }
func (l letter) joins() bool  { return l&letterJoins != 0 }

// An alphabet is the letters of all characters, with or without case folding.
type alphabet struct {
	fold   bool
	blocks [noBlock + 1]atomic.Pointer[letters]
}

// noBlock is the number of a block that is never made.
const noBlock = blocks

type letters struct {
	letter [blockSize]letter
	ccc    [blockSize]uint8
	long   []string
}

var (
	foldedAlphabet = alphabet{fold: true}
	casedAlphabet  alphabet
)

func alphabetOf(fold bool) *alphabet {
	if fold {
		return &foldedAlphabet
	}
	return &casedAlphabet
}

// block returns the letters of the block that r is in; they are made when a
// text first needs them.
func (a *alphabet) block(r rune) *letters {
	if b := a.blocks[uint32(r)>>blockBits].Load(); b != nil {
		return b
	}
	return a.makeBlock(r &^ (blockSize - 1))
}

func (a *alphabet) letter(r rune) letter { return a.block(r).letter[r&(blockSize-1)] }

// long returns the canonical form of a character whose letter has no length.
func (a *alphabet) long(r rune, l letter) string {
	if i := l & letterForm; i > 0 {
		return a.block(r).long[i-1]
	}
	return string(r)
}

// plainLetters are the blocks of characters of one class that stay as they are
// and have 4 bytes.
var plainLetters = sync.OnceValue(func() *[8]letters {
	list := new([8]letters)
	for k := range list {
		for i := range list[k].letter {
			list[k].letter[i] = letter(k) << letterClass
		}
	}
	return list
})

func (a *alphabet) makeBlock(first rune) *letters {
	f := factsOf(first)
	if k := f.class[0]; first > 0xFFFF && !invisible(first) && f == &plainFacts()[k] {
		a.blocks[first>>blockBits].Store(&plainLetters()[k])
		return &plainLetters()[k]
	}
	b := &letters{ccc: f.ccc}
	c := newCanonicaliser(a.fold)
	for i := range b.letter {
		r := first + rune(i)
		if !utf8.ValidRune(r) {
			r = utf8.RuneError
		}
		c.out = c.out[:0]
		c.put(r)
		c.flush()
		b.letter[i] = b.makeLetter(r, string(c.out))
	}
	a.blocks[first>>blockBits].Store(b)
	return b
}

func (b *letters) makeLetter(r rune, form string) letter {
	begin, size := utf8.DecodeRuneInString(form)
	l := letter(classOf(begin)) << letterClass
	if joins(r) {
		l |= letterJoins
		if form != string(r) || secondOfPair(r) {
			return l // what becomes of it depends on what is before it
		}
	}
	switch {
	case form != "" && len(form) <= 3 && (size == len(form) || ofWord(form)):
		l |= letter(len(form)) << letterLength
		if isSymbol(begin) {
			l |= letterSymbol
		}
		for i := range len(form) {
			l |= letter(form[i]) << (8 * i)
		}
	case form != string(r):
		b.long = append(b.long, form)
		l |= letter(len(b.long))
	}
	return l
}

// ofWord reports whether text is of classWord, every character.
func ofWord(text string) bool {
	for _, r := range text {
		if classOf(r) != classWord {
			return false
		}
	}
	return true
}

// joins reports whether the text before r may depend on r: whether r begins with a
// mark or with the second of a pair. Folding makes none of a character that does not.
func joins(r rune) bool {
	d := firstOf(decomposition(r), r)
	return combiningClass(d) != 0 || factsOf(d).backward[d&(blockSize-1)]
}
