package sketch

import (
	"math"
	"math/rand/v2"
	"unicode/utf8"
)

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

func english(random *rand.Rand, n int) []byte { return englishLanguage.text(random, n) }

func accented(random *rand.Rand, n int) []byte { return accentedLanguage.text(random, n) }

func cyrillic(random *rand.Rand, n int) []byte { return cyrillicLanguage.text(random, n) }

// chinese returns sentences of the 3,000 first ideographs by Zipf's law.
func chinese(random *rand.Rand, n int) []byte {
	text := make([]byte, 0, n+64)
	for len(text) < n {
		for range 4 + random.IntN(12) {
			text = utf8.AppendRune(text, 0x4E00+rune(3000*math.Pow(random.Float64(), 4)))
		}
		text = append(text, []string{"，", "。", "、", "。\n"}[random.IntN(4)]...)
	}
	return text[:n]
}

func sameEnglish(n int) []byte { return english(rand.New(rand.NewPCG(1997, 2000)), n) }
