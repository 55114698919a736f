package sketch

import (
	"bytes"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// An attachment looks at the first LookRows documents of its column, by key. Where it
// found fewer texts than LookFew its status looks again, once there are LookSome.
const (
	LookRows = 1000
	LookFew  = 100
	LookSome = 10
)

// The limits of a look.
const (
	lookLength = 4000 // characters of a text that are looked at
	lookName   = 30   // characters: as many as names have, and titles in Chinese
	lookShort  = 250  // characters: as many as titles, messages and verses have
	lookLong   = 2000 // characters: in longer texts single letters count for less
	lookLine   = 500  // characters of a log line
	lookWord   = 40   // characters of a word that is no word
)

// Look chooses the preset for texts, as LookThrough does.
func Look(texts []string) (preset, reason string) {
	preset, reason, _ = LookThrough(func(yield func([]byte) bool) {
		for _, text := range texts {
			if !yield([]byte(text)) {
				return
			}
		}
	})
	return preset, reason
}

// LookThrough chooses the preset for texts from a sample of them, and says why in a
// sentence, and how many texts it found. The rule looks at the first 4000 characters
// of each document that is UTF-8 without a zero byte and has more than white space,
// and takes the first line that fits; "half" is half of these texts or more, the
// median is the higher one of two:
//
//	no text                                                    prose
//	half begin with <, have </ twice and a tag of HTML         pages
//	half begin with { or [ and have ":, or begin with < and
//	    have </ twice                                          records
//	half have no line end within, a time such as 12:30, and
//	    the median is at most 500 characters                   logs
//	half have three lines that end in one of ;{}): or begin with
//	    #define, #include, #if or #endif, and such lines are
//	    a third of theirs                                      code
//	the median is less than 250 characters, and a fifth of the
//	    characters but white space are Arabic or Hebrew        unsegmented
//	the median is less than 30 characters, and fewer than half
//	    of the characters are digits                           names
//	a fifth of them are of scripts without blanks between
//	    words, or Hangul                                       unsegmented
//	words have 40 characters or more on average, and a tenth
//	    of the characters are not digits or a, c, g, n, t, u   short
//	words have 40 characters or more on average                sequences
//	the median is less than 250 characters                     short
//	the median is less than 2000 characters                    paragraphs
//	else                                                       prose
//
// It depends on nothing but the texts, so that every engine chooses the same.
func LookThrough(documents iter.Seq[[]byte]) (preset, reason string, looked int) {
	var lengths []int
	var pages, records, logs, code int
	var in characters
	for document := range documents {
		if bytes.IndexByte(document, 0) >= 0 || !utf8.Valid(document) {
			continue
		}
		text := strings.Trim(string(firstCharacters(document, lookLength)), " \t\r\n\f\v")
		if text == "" {
			continue
		}
		lengths = append(lengths, utf8.RuneCountInString(text))
		switch {
		case text[0] == '<' && strings.Count(text, "</") >= 2:
			if htmlTag.MatchString(text) {
				pages++
			} else {
				records++
			}
		case (text[0] == '{' || text[0] == '[') && strings.Contains(text, "\":"):
			records++
		case !strings.Contains(text, "\n") && hasTime(text):
			logs++
		case isCode(text):
			code++
		}
		in.count(text)
	}
	preset, reason = choose(lengths, pages, records, logs, code, in)
	return preset, reason, len(lengths)
}

// characters counts those of texts.
type characters struct{ visible, unspaced, semitic, digits, coded, words int }

func (c *characters) count(text string) {
	blank := true
	for _, r := range text {
		switch {
		case isUnspaced(r):
			c.unspaced++
		case isSemitic(r):
			c.semitic++
		}
		if r > ' ' {
			c.visible++
			if blank {
				c.words++
			}
			if r >= '0' && r <= '9' {
				c.digits++
			} else if !strings.ContainsRune("acgntuACGNTU", r) {
				c.coded++
			}
		}
		blank = r <= ' '
	}
}

// choose is the rule of LookThrough.
func choose(lengths []int, pages, records, logs, code int, in characters) (preset, reason string) {
	n := len(lengths)
	if n == 0 {
		return "prose", "there is no text to look at yet"
	}
	slices.Sort(lengths)
	median := lengths[n/2]
	share := func(count int, what string) string {
		return fmt.Sprintf("%d of the texts looked at (%d) %s", count, n, what)
	}
	switch half := (n + 1) / 2; {
	case pages >= half:
		return "pages", share(pages, "are HTML")
	case records >= half:
		return "records", share(records, "are JSON or XML")
	case logs >= half && median <= lookLine:
		return "logs", share(logs, "are single lines with a time")
	case code >= half:
		return "code", share(code, "look like source code")
	case median < lookShort && in.semitic > 0 && 5*in.semitic >= in.visible:
		return "unsegmented", fmt.Sprintf("the texts are short and %d %% of the characters are Arabic or Hebrew", 100*in.semitic/in.visible)
	case median < lookName && 2*in.digits < in.visible:
		return "names", fmt.Sprintf("the median length of the texts looked at (%d) is %d characters, less than %d", n, median, lookName)
	case in.unspaced > 0 && 5*in.unspaced >= in.visible:
		return "unsegmented", fmt.Sprintf("%d %% of the characters are of scripts whose words blanks do not tell apart", 100*in.unspaced/in.visible)
	case in.visible >= lookWord*in.words:
		preset = "sequences"
		if 10*in.coded >= in.visible {
			preset = "short"
		}
		return preset, fmt.Sprintf("the words have %d characters on average", in.visible/max(1, in.words))
	case median < lookShort:
		return "short", fmt.Sprintf("the median length of the texts looked at (%d) is %d characters, less than %d", n, median, lookShort)
	case median < lookLong:
		return "paragraphs", fmt.Sprintf("the median length of the texts looked at (%d) is %d characters, less than %d", n, median, lookLong)
	}
	return "prose", fmt.Sprintf("the median length of the texts looked at (%d) is %d characters, at least %d", n, median, lookLong)
}

// firstCharacters is text up to its first n characters.
func firstCharacters(text []byte, n int) []byte {
	end := 0
	for ; n > 0 && end < len(text); n-- {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	return text[:end]
}

// hasTime reports whether two digits, a colon and two digits are in text.
func hasTime(text string) bool {
	digit := func(i int) bool { return text[i] >= '0' && text[i] <= '9' }
	for i := 2; i+2 < len(text); i++ {
		if text[i] == ':' && digit(i-2) && digit(i-1) && digit(i+1) && digit(i+2) {
			return true
		}
	}
	return false
}

// htmlTag finds a tag that HTML has and records in XML hardly have. Its letters have no
// other case beyond ASCII, so PostgreSQL finds the same.
var htmlTag = regexp.MustCompile(`(?i:<(?:!doctype html|html|body|div|table|a href|p|br|ul|ol|h[1-6])[ \t\r\n/>=])`)

// directives begin lines of C and its relatives.
var directives = [...]string{"#define", "#include", "#if", "#endif"}

// isCode reports whether three lines and a third of all end or begin as those of programs do.
func isCode(text string) bool {
	lines, ends := 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimRight(line, " \t\r"); line == "" {
			continue
		}
		directive := func(begins string) bool { return strings.HasPrefix(line, begins) }
		if lines++; strings.IndexByte(";{}):", line[len(line)-1]) >= 0 || slices.ContainsFunc(directives[:], directive) {
			ends++
		}
	}
	return ends >= 3 && 3*ends >= lines
}

// isUnspaced reports whether a character is of a script that is written without
// blanks, or of Hangul, whose words carry their endings: Thai, Lao, Myanmar,
// Hangul, Khmer, Kana, Han.
func isUnspaced(r rune) bool {
	return r >= 0x0E00 && r <= 0x0EFF || r >= 0x1000 && r <= 0x11FF || r >= 0x1780 && r <= 0x17FF ||
		r >= 0x3040 && r <= 0x318F || r >= 0x31F0 && r <= 0x31FF || r >= 0x3400 && r <= 0x4DBF || r >= 0x4E00 && r <= 0x9FFF ||
		r >= 0xAC00 && r <= 0xD7AF || r >= 0xF900 && r <= 0xFAFF || r >= 0x20000 && r <= 0x3FFFF
}

// isSemitic reports whether a character is of the Hebrew or Arabic script, whose words
// are short and change within.
func isSemitic(r rune) bool {
	return r >= 0x0590 && r <= 0x05FF || r >= 0xFB1D && r <= 0xFB4F ||
		r >= 0x0600 && r <= 0x06FF || r >= 0x0750 && r <= 0x077F || r >= 0x0870 && r <= 0x08FF || r >= 0xFB50 && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFE
}
