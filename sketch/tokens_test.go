package sketch

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// tokenize gives a document to a tokenizer in pieces of the lengths that size
// returns.
func tokenize(p Profile, doc []byte, size func() int) []string {
	z := newTokenizer(p)
	z.reset()
	var list []string
	var t tokens
	var held []byte
	for at := 0; ; {
		n := min(size(), len(doc)-at)
		held = append(held, doc[at:at+n]...)
		at += n
		final := at == len(doc)
		for {
			t.reset()
			used := z.next(&t, held, final)
			for _, s := range t.spans {
				list = append(list, string(t.text[s.start:s.end]))
			}
			held = held[used:]
			if used == 0 && len(t.spans) == 0 || len(held) == 0 {
				break
			}
		}
		if final {
			return list
		}
	}
}

func whole(p Profile, doc []byte) []string { return tokenize(p, doc, func() int { return len(doc) }) }

// literalWords is the definition of the stream words by the libraries.
func literalWords(s string, fold bool) (list []string) {
	s = canonicalText(s, fold)
	word, alone := "", false
	end := func() {
		if word != "" {
			list = append(list, word)
		}
		word, alone = "", false
	}
	for _, r := range s {
		single := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && !unicode.Is(unicode.Nd, r)
		switch {
		case unicode.Is(unicode.M, r):
			word += string(r)
		case !unicode.In(r, unicode.L, unicode.N):
			end()
		case single:
			end()
			word, alone = string(r), true
		default:
			if alone {
				end()
			}
			word += string(r)
		}
	}
	end()
	return list
}

var texts = []string{
	"", " ", "a", "A rose is a rose, is a ROSE!", "don't 3.14 x_y",
	"Straße ŒUVRE ﬁne Ⅳ ½ ²", "café cafe\u0301 CAFE\u0301", "=\u0338 \u0301 x\u0301\u0323\u0301",
	"Съешь же ещё этих мягких французских булок", "我能吞下玻璃而不伤身体。カタカナ ひらがな、ー",
	"ฉันกินกระจกได้ แต่มันไม่ทำให้ฉันเจ็บ ๑๒๓", "मैं काँच खा सकता हूँ और मुझे उससे कोई चोट नहीं पहुंचती क़\u094d",
	"한국어 \u1112\u1161\u11ab\u1100\u116e\u11a8 각\u11a8", "\u0301\u0301abc", "ﷺ Å ǆ İstanbul ŉ ΐ ᾳ ᾳ\u0301 \u0345a",
	"𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𠀁 😀❤️ 𑀓𑁆\u0300", "a\xffb\xe2\x82c\xf0\x9f\x98 \xc3", "\u0378x\u0378 \ue000 z",
	"ABCdefGHI" + strings.Repeat("x", 5000), strings.Repeat("é", 3000), strings.Repeat("e\u0301", 3000),
	strings.Repeat("日", 10) + strings.Repeat("a ", 4000), strings.Repeat("ß", 9000),
}

func TestWords(t *testing.T) {
	for _, text := range texts {
		for _, fold := range []bool{true, false} {
			want := []string{}
			for _, w := range literalWords(text, fold) {
				for len(w) > maxToken {
					n := maxToken
					for !utf8.RuneStart(w[n]) {
						n--
					}
					want = append(want, w[:n])
					w = w[n:]
				}
				want = append(want, w)
			}
			p := Profile{Stream: Words, OtherCase: !fold, W: 1}
			if got := whole(p, []byte(text)); !slices.Equal(got, want) {
				t.Errorf("%.60q, fold %v:\n got %.200q\nwant %.200q", text, fold, got, want)
			}
		}
	}
}

const awkward = " aA-\x80\xe3\n<>&;="

// randomText is made of what is hard: pieces of the texts and characters that
// combine, now and then cut in the middle.
func randomText(random *rand.Rand, n int) []byte {
	var b []byte
	for range n {
		switch s := texts[random.IntN(len(texts))]; random.IntN(6) {
		case 0:
			b = utf8.AppendRune(b, rune(random.IntN(0x11000)))
		case 1:
			b = utf8.AppendRune(b, rune(0x300+random.IntN(0x70)))
		case 2:
			b = append(b, awkward[random.IntN(len(awkward))])
		default:
			if len(s) > 0 {
				i := random.IntN(len(s))
				b = append(b, s[i:min(i+random.IntN(12), len(s))]...)
			}
		}
	}
	return b
}

func TestWordsRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		text := randomText(random, random.IntN(12))
		if strings.ContainsFunc(string(text), func(r rune) bool { return classOf(r) == classUnassigned }) {
			continue
		}
		fold := random.IntN(2) == 0
		want := literalWords(string(text), fold)
		if got := whole(Profile{Stream: Words, OtherCase: !fold, W: 1}, text); !slices.Equal(got, want) {
			t.Fatalf("%+q, fold %v:\n got %+q\nwant %+q", text, fold, got, want)
		}
	}
}

// every profile whose tokenizer differs.
var everyStream = func() (list []Profile) {
	for _, stream := range []Stream{Words} {
		for i := range 16 {
			list = append(list, Profile{Stream: stream, W: 1, OtherCase: i&1 != 0, StopWords: i&2 != 0, Vowels: i&4 != 0, Duplicates: i&8 != 0})
		}
	}
	return list
}()

// However a document is cut, its tokens are the same.
func TestPiecesDoNotShow(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, p := range everyStream {
		for i := range 300 {
			var text []byte
			if i < len(texts) {
				text = []byte(texts[i])
			} else {
				text = randomText(random, 20)
			}
			want := whole(p, text)
			most := 1 + random.IntN(20)
			for _, size := range []func() int{func() int { return 1 }, func() int { return random.IntN(most) + 1 }} {
				if got := tokenize(p, text, size); !slices.Equal(got, want) {
					t.Fatalf("%+v: %+q in pieces:\n got %+q\nwant %+q", p, text, got, want)
				}
			}
		}
	}
}

func benchmarkTokens(b *testing.B, p Profile, text string) {
	doc := []byte(strings.Repeat(text, 200000/len(text)+1))
	z := newTokenizer(p)
	var t tokens
	run := func() {
		z.reset()
		for at := 0; at < len(doc); {
			t.reset()
			at += z.next(&t, doc[at:], true)
		}
	}
	run()
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
}

func BenchmarkWords(b *testing.B) {
	for _, c := range []struct{ script, text string }{
		{"english", "Four score and seven years ago our fathers brought forth on this continent, a new nation, conceived in Liberty. "},
		{"german", "Die Straßenbahn fährt über die große Brücke nach Süden, wo schöne Häuser stehen. "},
		{"russian", "Съешь же ещё этих мягких французских булок, да выпей чаю. "},
		{"greek", "Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία, αλλά όχι πάντα. "},
		{"chinese", "我能吞下玻璃而不伤身体。人人生而自由,在尊严和权利上一律平等。"},
		{"japanese", "私はガラスを食べられます。それは私を傷つけません。カタカナも。"},
		{"korean", "나는 유리를 먹을 수 있어요. 그래도 아프지 않아요. "},
		{"arabic", "أنا قادر على أكل الزجاج و هذا لا يؤلمني. "},
		{"hindi", "मैं काँच खा सकता हूँ और मुझे उससे कोई चोट नहीं पहुंचती. "},
		{"thai", "ฉันกินกระจกได้ แต่มันไม่ทำให้ฉันเจ็บ "},
		{"decomposed", "cafe\u0301 re\u0301sume\u0301 nai\u0308ve fac\u0327ade "},
	} {
		b.Run("script="+c.script, func(b *testing.B) {
			benchmarkTokens(b, Profile{Stream: Words, W: 1}, c.text)
		})
	}
}
