package sketch

import (
	"math"
	"math/rand/v2"
)

// english returns n bytes of text with the statistics of English that matter
// to speed, the same ones every time: 20,000 words drawn by Zipf's law, the
// frequent ones short, 4.7 letters on the average; sentences with a capital
// and punctuation, lines and a number now and then. With what separates them
// that is 5.9 bytes a word.
func english(n int) []byte { return englishFrom(rand.New(rand.NewPCG(1997, 2000)), n) }

var vocabulary = func() []string {
	random := rand.New(rand.NewPCG(2011, 2012))
	const letters = "etaoinshrdlucmfwypvbgkjqxz"
	words := make([]string, 20000)
	for rank := range words {
		mean := 1.9 + 0.75*math.Log(float64(rank+2))
		length := max(1, int(mean+1.6*random.NormFloat64()+0.5))
		w := make([]byte, length)
		for i := range w {
			w[i] = letters[int(26*math.Pow(random.Float64(), 2.2))]
		}
		words[rank] = string(w)
	}
	return words
}()

var zipf = func() []float64 {
	sum, cumulative := 0.0, make([]float64, len(vocabulary))
	for rank := range cumulative {
		sum += 1 / (float64(rank) + 2.7)
		cumulative[rank] = sum
	}
	return cumulative
}()

func englishFrom(random *rand.Rand, n int) []byte {
	text := make([]byte, 0, n+64)
	line, start := 0, true
	for len(text) < n {
		at := random.Float64() * zipf[len(zipf)-1]
		low, high := 0, len(zipf)-1
		for low < high {
			if middle := (low + high) / 2; zipf[middle] < at {
				low = middle + 1
			} else {
				high = middle
			}
		}
		word := vocabulary[low]
		if random.IntN(120) == 0 && !start {
			word = "1997"
		}
		if start {
			text = append(text, word[0]&^0x20)
			word = word[1:]
			start = false
		}
		text = append(text, word...)
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
