package token

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// soundexDigit gives the digit of the letters A to Z: labials 1, gutturals and
// sibilants 2, dentals 3, L 4, nasals 5, R 6, and 0 for the vowels, H, W and Y.
const soundexDigit = "01230120022455012623010202"

// AppendSoundex appends the Soundex code of word to dst: its first letter as a
// capital and three digits. The rules are those of Apache Commons Codec, which
// are the American ones: letters of equal digit in a row count once, also when
// an H or a W stands between them, and twice when a vowel does. So Ashcraft is
// A261, Tymczak T522 and Pfister P236.
//
// Accents are taken off. Everything that is then not a letter from A to Z is
// passed over; a word without any such letter has no code, and dst comes back
// as it was.
func AppendSoundex(dst, word []byte) []byte {
	code := [4]byte{0, '0', '0', '0'}
	n := 0
	var last byte
	for i := 0; i < len(word) && n < len(code); {
		c := word[i]
		i++
		if c >= utf8.RuneSelf {
			accented := norm.NFD.Properties(word[i-1:])
			i += max(accented.Size()-1, 0)
			base := accented.Decomposition()
			if len(base) == 0 {
				continue
			}
			c = base[0]
		}
		c |= 'a' - 'A'
		if c < 'a' || c > 'z' {
			continue
		}
		digit := soundexDigit[c-'a']
		switch {
		case n == 0:
			code[0] = c - ('a' - 'A')
			n = 1
		case c == 'h' || c == 'w':
			continue
		case digit != '0' && digit != last:
			code[n] = digit
			n++
		}
		last = digit
	}
	if n == 0 {
		return dst
	}
	return append(dst, code[:]...)
}
