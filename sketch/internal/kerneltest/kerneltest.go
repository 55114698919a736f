// Package kerneltest has what the tests of the kernels and of their callers are fed:
// random values and texts, and tables of golden values.
package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func RandomValues(random *rand.Rand, n int) []uint64 {
	x := make([]uint64, n)
	for i := range x {
		x[i] = random.Uint64()
		switch random.IntN(16) {
		case 0:
			x[i] = 0
		case 1:
			x[i] = ^uint64(0)
		case 2:
			x[i] >>= random.IntN(64)
		case 3:
			x[i] = 1<<63 | x[i]>>40
		}
	}
	return x
}

// AsciiText is text for the word kernels: mostly words, with runs and rubbish.
func AsciiText(random *rand.Rand, n int) []byte {
	text := make([]byte, 0, n+200)
	for len(text) < n {
		switch random.IntN(20) {
		case 0:
			text = append(text, byte(random.UintN(128)))
		case 1:
			for range random.IntN(200) {
				text = append(text, "aZ"[random.IntN(2)])
			}
		case 2:
			for range random.IntN(80) {
				text = append(text, "x."[len(text)&1])
			}
		}
		for range random.IntN(12) {
			text = append(text, "abcdefghijklmnopqrstuvwxyzABCXYZ0189"[random.IntN(36)])
		}
		for range random.IntN(3) {
			text = append(text, " ,@[`{/:\n\x00\x7f"[random.IntN(11)])
		}
	}
	return text[:n]
}

// OtherText is text of many scripts, with characters that are not plain and
// bytes that are not UTF-8 now and then; the rarer they are, the longer it goes
// without.
func OtherText(random *rand.Rand, n, rare int) []byte {
	scripts := []struct{ first, last rune }{
		{' ', '~'}, {' ', '~'}, {0xA0, 0xFF}, {0x400, 0x45F}, {0x410, 0x44F}, {0x391, 0x3CE}, {0x100, 0x17F}, {0x5D0, 0x5EA}, {0x620, 0x64A}, {0x2010, 0x2027}, {0x80, 0x7FF},
	}
	text := make([]byte, 0, n+32)
	for len(text) < n {
		script := scripts[random.IntN(len(scripts))]
		for range random.IntN(24) {
			text = utf8.AppendRune(text, script.first+random.Int32N(script.last-script.first+1))
			if random.IntN(6) == 0 {
				text = append(text, ' ')
			}
		}
		if random.IntN(rare) == 0 {
			switch random.IntN(4) {
			case 0:
				text = append(text, byte(0x80|random.UintN(128)))
			case 1:
				text = utf8.AppendRune(text, random.Int32N(0x11000))
			case 2:
				text = utf8.AppendRune(text, 0x300+random.Int32N(0x70))
			case 3:
				text = utf8.AppendRune(text, 0x2000+random.Int32N(0x70))
			}
		}
	}
	return text[:n]
}

// A language is text with the statistics that matter to speed: a vocabulary
// drawn by Zipf's law, the frequent words short.
type language struct {
	words      [][]byte
	cumulative []float64 // of the words' weights
}

func newLanguage(letters string, mean, growth float64) *language {
	random := rand.New(rand.NewPCG(2011, 2012))
	alphabet := []rune(letters)
	l := new(language)
	sum := 0.0
	for rank := range 20000 {
		length := max(1, int(mean+growth*math.Log(float64(rank+2))+1.6*random.NormFloat64()+0.5))
		var w []byte
		for range length {
			w = utf8.AppendRune(w, alphabet[int(float64(len(alphabet))*math.Pow(random.Float64(), 2.2))])
		}
		l.words = append(l.words, w)
		sum += 1 / (float64(rank) + 2.7)
		l.cumulative = append(l.cumulative, sum)
	}
	return l
}

func (l *language) word(random *rand.Rand) []byte {
	at := random.Float64() * l.cumulative[len(l.cumulative)-1]
	low, high := 0, len(l.cumulative)-1
	for low < high {
		if middle := (low + high) / 2; l.cumulative[middle] < at {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return l.words[low]
}

// text returns n bytes of sentences, in lines, with a number now and then.
func (l *language) text(random *rand.Rand, n int) []byte {
	text := make([]byte, 0, n+64)
	line, start := 0, true
	for len(text) < n {
		word := l.word(random)
		if random.IntN(120) == 0 {
			word = []byte("1997")
		}
		at := len(text)
		text = append(text, word...)
		if c := text[at]; start && c >= 'a' && c <= 'z' {
			text[at] = c &^ 0x20
		}
		start = false
		switch p := random.IntN(100); {
		case p < 6:
			text = append(text, '.')
			start = true
		case p < 11:
			text = append(text, ',')
		}
		if len(text)-line > 72 {
			text = append(text, '\n')
			line = len(text)
		} else {
			text = append(text, ' ')
		}
	}
	return text[:n]
}

var (
	// 5.9 bytes a word, with what separates it from the next.
	englishLanguage  = newLanguage("etaoinshrdlucmfwypvbgkjqxz", 1.6, 0.61)
	accentedLanguage = newLanguage("enirstaéduhlgcmobàèzfüwkvpäöjßçê", 2, 0.8)
	cyrillicLanguage = newLanguage("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъ", 2, 0.8)
)

func English(random *rand.Rand, n int) []byte { return englishLanguage.text(random, n) }

func Accented(random *rand.Rand, n int) []byte { return accentedLanguage.text(random, n) }

func Cyrillic(random *rand.Rand, n int) []byte { return cyrillicLanguage.text(random, n) }

// Chinese returns sentences of the 3,000 first ideographs by Zipf's law.
func Chinese(random *rand.Rand, n int) []byte {
	text := make([]byte, 0, n+64)
	for len(text) < n {
		for range 4 + random.IntN(12) {
			text = utf8.AppendRune(text, 0x4E00+rune(3000*math.Pow(random.Float64(), 4)))
		}
		text = append(text, []string{"，", "。", "、", "。\n"}[random.IntN(4)]...)
	}
	return text[:n]
}

// Log returns lines as programs write them.
func Log(random *rand.Rand, n int) []byte {
	var text []byte
	for len(text) < n {
		text = fmt.Appendf(text, "2026-11-22 16:%02d:%02d.%03d %s [%s] request %d took %d ms: ", random.IntN(60), random.IntN(60), random.IntN(1000),
			[]string{"INFO", "WARN", "ERROR"}[random.IntN(3)], englishLanguage.word(random), random.IntN(100000), random.IntN(2000))
		text = append(append(text, englishLanguage.text(random, 40)...), '\n')
	}
	return text[:n]
}

// Records returns lines of JSON with the same keys.
func Records(random *rand.Rand, n int) []byte {
	var text []byte
	for len(text) < n {
		text = fmt.Appendf(text, `{"id": %d, "name": "%s %s", "city": "%s", "phone": "+49 %d", "active": %t}`+"\n", random.IntN(1e6),
			englishLanguage.word(random), englishLanguage.word(random), englishLanguage.word(random), random.IntN(1e9), random.IntN(2) == 0)
	}
	return text[:n]
}

// HTML returns paragraphs with tags, links and references.
func HTML(random *rand.Rand, n int) []byte {
	var text []byte
	for len(text) < n {
		text = fmt.Appendf(text, "<div class=\"%s\"><p>%s <a href=\"/%s?id=%d\">%s</a> &amp; %s</p></div>\n", englishLanguage.word(random), englishLanguage.text(random, 300),
			englishLanguage.word(random), random.IntN(1000), englishLanguage.text(random, 20), englishLanguage.text(random, 100))
	}
	return text[:n]
}

func SameEnglish(n int) []byte { return English(rand.New(rand.NewPCG(1997, 2000)), n) }

// Trials is n, or less under -short.
func Trials(n int) int {
	if testing.Short() {
		return n / 20
	}
	return n
}

// GoldenLines are the lines of a table of golden values, as fields.
func GoldenLines(t testing.TB, folder, name string) (list [][]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		list = append(list, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return list
}

// Around is 0 to 70 and the neighbours of the block sizes of the kernels.
var Around = func() (sizes []int) {
	for n := range 71 {
		sizes = append(sizes, n)
	}
	for _, n := range []int{88, 96, 128, 176, 256, 512, 700} {
		sizes = append(sizes, n-1, n, n+1)
	}
	return sizes
}()

// Page returns what finds the text between two others on a page.
func Page(t testing.TB, path string) (between func(begin, end string) string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return func(begin, end string) string {
		t.Helper()
		_, rest, ok := strings.Cut(string(page), begin)
		text, _, more := strings.Cut(rest, end)
		if !ok || !more {
			t.Fatalf("%s has no text between %q and %q", path, begin, end)
		}
		return text
	}
}
