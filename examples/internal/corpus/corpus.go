// Package corpus makes documents to compare near-duplicate finders on: seeded,
// with realistic word statistics and planted edits, and the truth about them,
// the exact resemblance of every pair that reaches one half.
package corpus

import (
	"math"
	"math/rand/v2"
	"strings"
)

// An Edit is what was done to a document to make another one.
type Edit uint8

const (
	Original    Edit = iota
	Copied           // not changed
	Words            // some words replaced
	Moved            // sentences in another order
	Cut              // a block taken out
	Boilerplate      // a footer that many documents have appended
	Format           // case and punctuation
	Noise            // characters misread, as by OCR
	edits
)

var editNames = [...]string{"original", "copied", "words", "moved", "cut", "boilerplate", "format", "noise"}

func (e Edit) String() string { return editNames[e] }

// A Document of the collection. Of is the document that it was made from.
type Document struct {
	Text string
	Edit Edit
	Of   int
}

// A Generator makes a collection, one document after the other; the same seed,
// size and share make the same collection.
type Generator struct {
	random  *rand.Rand
	bytes   int     // the length of a document
	share   float64 // of documents that are edits of another one
	words   []string
	weights []float64 // cumulative
	phrases [][]string
	footers []string
	recent  []Document // what edits are made from: the last originals
	at      []int
	made    int
}

// keep bounds how many originals edits choose from, so that a generator takes
// the same memory whatever it makes.
const keep = 100_000

// New returns a generator of documents whose length is about the given number
// of bytes. The given share of them are edits of earlier documents.
func New(seed uint64, bytes int, share float64) *Generator {
	g := &Generator{random: rand.New(rand.NewPCG(seed, 1997)), bytes: bytes, share: share}
	g.vocabulary(40_000)
	// Stock phrases repeat whole runs of words between unrelated documents, as
	// prose does.
	for range 5_000 {
		phrase := make([]string, 3+g.random.IntN(6))
		for i := range phrase {
			phrase[i] = g.word()
		}
		g.phrases = append(g.phrases, phrase)
	}
	for range 50 {
		g.footers = append(g.footers, g.sentences(bytes/5))
	}
	return g
}

// vocabulary makes n words whose frequencies fall as 1/(rank+2.7), Zipf's law
// as Mandelbrot corrected it; frequent words are short.
func (g *Generator) vocabulary(n int) {
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	seen := map[string]bool{}
	sum := 0.0
	for len(g.words) < n {
		rank := float64(len(g.words))
		syllables := 1 + int(math.Log2(2+rank)/6) + g.random.IntN(2)
		var b strings.Builder
		for range syllables {
			if g.random.IntN(4) > 0 {
				b.WriteByte(consonants[g.random.IntN(len(consonants))])
			}
			b.WriteByte(vowels[g.random.IntN(len(vowels))])
			if g.random.IntN(3) == 0 {
				b.WriteByte(consonants[g.random.IntN(len(consonants))])
			}
		}
		word := b.String()
		if seen[word] {
			continue
		}
		seen[word] = true
		sum += 1 / (rank + 2.7)
		g.words = append(g.words, word)
		g.weights = append(g.weights, sum)
	}
}

func (g *Generator) word() string {
	x := g.random.Float64() * g.weights[len(g.weights)-1]
	low, high := 0, len(g.weights)-1
	for low < high {
		if middle := (low + high) / 2; g.weights[middle] < x {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return g.words[low]
}

// sentences returns text of about n bytes.
func (g *Generator) sentences(n int) string {
	var b strings.Builder
	for b.Len() < n {
		length := 6 + g.random.IntN(14)
		for i := 0; i < length; {
			run := []string{""}
			if g.random.IntN(12) == 0 {
				p := g.random.IntN(len(g.phrases) + 1)
				if p < len(g.phrases) {
					run = g.phrases[p]
				}
			}
			for _, word := range run {
				if word == "" {
					word = g.word()
				}
				if i == 0 {
					word = strings.ToUpper(word[:1]) + word[1:]
				}
				b.WriteString(word)
				if i++; i < length {
					if g.random.IntN(12) == 0 {
						b.WriteByte(',')
					}
					b.WriteByte(' ')
				}
			}
		}
		b.WriteString(". ")
	}
	return strings.TrimSpace(b.String())
}

// Next returns the next document.
func (g *Generator) Next() Document {
	d := Document{Of: g.made}
	if len(g.recent) > 0 && g.random.Float64() < g.share {
		i := g.random.IntN(len(g.recent))
		d.Edit = Copied + Edit(g.random.IntN(int(edits-Copied)))
		d.Text, d.Of = g.edit(g.recent[i].Text, d.Edit), g.at[i]
	} else {
		d.Text = g.sentences(g.bytes * (70 + g.random.IntN(60)) / 100)
		if len(g.recent) < keep {
			g.recent, g.at = append(g.recent, d), append(g.at, g.made)
		} else {
			i := g.random.IntN(keep)
			g.recent[i], g.at[i] = d, g.made
		}
	}
	g.made++
	return d
}

// edit returns the text after an edit, from slight to heavy.
func (g *Generator) edit(text string, e Edit) string {
	strength := g.random.Float64() * g.random.Float64() // slight ones are more frequent
	switch e {
	case Words:
		words := strings.Fields(text)
		for range 1 + int(strength*0.3*float64(len(words))) {
			words[g.random.IntN(len(words))] = g.word()
		}
		return strings.Join(words, " ")
	case Moved:
		sentences := strings.SplitAfter(text, ". ")
		for range 1 + int(strength*float64(len(sentences))/2) {
			i, j := g.random.IntN(len(sentences)), g.random.IntN(len(sentences))
			sentences[i], sentences[j] = sentences[j], sentences[i]
		}
		return strings.Join(sentences, " ")
	case Cut:
		words := strings.Fields(text)
		n := 1 + int(strength*0.5*float64(len(words)))
		at := g.random.IntN(len(words) - n + 1)
		return strings.Join(append(words[:at:at], words[at+n:]...), " ")
	case Boilerplate:
		return text + "\n\n" + g.footers[g.random.IntN(len(g.footers))]
	case Format:
		text = strings.ReplaceAll(text, ", ", " - ")
		if g.random.IntN(2) == 0 {
			text = strings.ToUpper(text)
		}
		return "* " + strings.ReplaceAll(text, ". ", ".\n* ")
	case Noise:
		b := []byte(text)
		for range 1 + int(strength*0.03*float64(len(b))) {
			if i := g.random.IntN(len(b)); b[i] >= 'a' {
				b[i] = misread[b[i]-'a']
			}
		}
		return string(b)
	}
	return text
}

// misread is what a scanner takes each letter for.
const misread = "oheb1tqniji1nnocqnsiuvwxgs"
