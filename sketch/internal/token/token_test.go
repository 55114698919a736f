package token

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/alike-sql/alike/sketch/internal/kerneltest"
)

// tokenize gives a document to a tokenizer in pieces of the lengths that size
// returns.
func tokenize(p Settings, doc []byte, size func() int) []string {
	z := New(p)
	z.Reset()
	var list []string
	var t Tokens
	var held []byte
	for at := 0; ; {
		n := min(size(), len(doc)-at)
		held = append(held, doc[at:at+n]...)
		at += n
		final := at == len(doc)
		for {
			t.Reset()
			used := z.Next(&t, held, final)
			for _, s := range t.Spans {
				list = append(list, string(t.Text[s.Start:s.End]))
			}
			held = held[used:]
			if used == 0 && len(t.Spans) == 0 || len(held) == 0 {
				break
			}
		}
		if final {
			return list
		}
	}
}

// foldedWords are the words of the default profile.
var foldedWords = Settings{Stream: Words, Fold: true}

// settingsOf reads settings as a profile spells them.
func settingsOf(t testing.TB, text string) (s Settings) {
	t.Helper()
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			for s.Stream = Chars; s.Stream.String() != word; s.Stream++ {
			}
			s.Fold = s.Stream.Folds()
		case word == "case" || word == "fold":
			s.Fold = word == "fold"
		case word == "stop":
			s.StopWords = true
		case word == "vowels":
			s.Vowels = true
		case word == "duplicates":
			s.Duplicates = true
		case word == "numbers":
			s.Numbers = true
		case word == "ids":
			s.IDs = true
		default:
			t.Fatalf("%q is not a setting", word)
		}
	}
	return s
}

func tokensOf(p Settings, doc []byte) []string {
	return tokenize(p, doc, func() int { return len(doc) })
}

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
	"<title>A &amp; B</title><p>caf&eacute; <b>b</b>old</p>x<p>y <a href='/x?a=1&copy=2'>link</a><img src=i.png alt=no>",
	"<script>var x = '<p>no';</script>yes<style>no</style><!-- no -->y<!--->es<!-- a --!>ok<!x>1</>2<?y>3",
	"<script><!-- <script> </script> no --> </script>yes <script>a</scriptx></script/ b>z <textarea><b>&lt;</textarea >q",
	"a < b &#x41; &#65 &notit; &#0; &#99999999999; &CounterClockwiseContourIntegral; &;&#;&#x; <a href=\"\n/A b&amp;c\" HREF=two src=n>",
	"<IMG SRC='a\tb.png' href=x/y src=2><a/href=/q/r><p =a=b href = \"c\" / d><plaintext>all <b>&amp;</plaintext> of it",
	"int main(void) { a[i++] >>= 0x1F; x = 3.14e-5..2; s->t::u; /* don't */ \"str\"; } // 変数 名_前 é_1 $x ≠ …",
	"  one  two \r\n\r\nthree\tfour  \u2028five\u0085\n six ",
	"The quick brown fox isn't the OTHER fox; The fox",
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
			p := Settings{Stream: Words, Fold: fold}
			if got := tokensOf(p, []byte(text)); !slices.Equal(got, want) {
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
	for range kerneltest.Trials(20000) {
		text := randomText(random, random.IntN(12))
		if strings.ContainsFunc(string(text), func(r rune) bool { return classOf(r) == classUnassigned }) {
			continue
		}
		fold := random.IntN(2) == 0
		want := literalWords(string(text), fold)
		if got := tokensOf(Settings{Stream: Words, Fold: fold}, text); !slices.Equal(got, want) {
			t.Fatalf("%+q, fold %v:\n got %+q\nwant %+q", text, fold, got, want)
		}
	}
}

// every setting whose tokenizer differs.
var everyStream = func() (list []Settings) {
	for _, stream := range []Stream{Chars, Words, Lines, Soundex, HTML, Code, Page} {
		for i := range 16 {
			list = append(list, Settings{Stream: stream, Fold: i&1 != 0, StopWords: i&2 != 0, Vowels: i&4 != 0, Duplicates: i&8 != 0, Numbers: i&3 == 3, IDs: i&5 == 5})
		}
	}
	return list
}()

// However a document is cut, its tokens are the same.
func TestPiecesDoNotShow(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, p := range everyStream {
		for i := range len(texts) + kerneltest.Trials(270) {
			var text []byte
			if i < len(texts) {
				text = []byte(texts[i])
			} else {
				text = randomText(random, 20)
			}
			want := tokensOf(p, text)
			longest := 1 + random.IntN(20)
			for _, size := range []func() int{func() int { return 1 }, func() int { return random.IntN(longest) + 1 }} {
				if got := tokenize(p, text, size); !slices.Equal(got, want) {
					t.Fatalf("%+v: %+q in pieces:\n got %+q\nwant %+q", p, text, got, want)
				}
			}
		}
	}
}

func TestStreams(t *testing.T) {
	long := strings.Repeat("é", 2048)
	for _, c := range []struct {
		settings, text string
		want           []string
	}{
		{"chars", "Ab, c\u0301", []string{" ", "a", "b", " ", "ć", " "}},
		{"chars", "日本 \u0915\u094d", []string{" ", "日", "本", " ", "क", "\u094d", " "}},
		{"chars case vowels", "An Ode", []string{" ", "n", " ", "d", " "}},
		{"chars", "C++ or C#", []string{" ", "c", "+", "+", " ", "o", "r", " ", "c", "#", " "}},
		{"chars", " €5, 3.5 mm\n", []string{" ", "€", "5", " ", "3", " ", "5", " ", "m", "m", " "}},
		{"chars", "(a)—😀 \u2764\ufe0f", []string{" ", "a", " ", "😀", " ", "❤", " "}},
		{"chars", "内核\n模块 。文\u3000x", []string{" ", "内", "核", "模", "块", " ", "文", " ", "x", " "}},
		{"chars", "中Linux中", []string{" ", "中", "l", "i", "n", "u", "x", "中", " "}},
		{"chars", "กิ\nน", []string{" ", "ก", "\u0e34", "น", " "}},
		{"chars", "한국 어", []string{" ", "한", "국", " ", "어", " "}},
		{"chars", ".,; ", nil},
		{"chars stop", "the a of", nil},
		{"chars stop", "the cat of a dog", []string{" ", "c", "a", "t", " ", "d", "o", "g", " "}},
		{"chars duplicates", "do do re do", []string{" ", "d", "o", " ", "r", "e", " "}},
		{"words numbers", "No 42 of 3.14, 2nd, ½ and ٣٤ x1 一2", []string{"no", "of", "2nd", "and", "x1", "一"}},
		{"words ids", "No 42, x86, 3f2a-77 and 0x1F", []string{"no", "42", "77", "and"}},
		{"words numbers ids", "request 8f3a2c took 12 ms", []string{"request", "took", "ms"}},
		{"code numbers", "x_1 = 3.14 + 0x1F", []string{"x_1", "=", "+", "0x1F"}},
		{"chars numbers", "$20 = 100%", []string{" ", "=", " "}},
		{"lines numbers", "12:30\n12:30 up", []string{"12:30 up"}},
		{"page", "<p>Go <a href='/x'>h</a>ome <img src=y.png>x", []string{"go", "home", "x"}},
		{"words", "Don't stop; x_y 3.14", []string{"don", "t", "stop", "x", "y", "3", "14"}},
		{"words case", "Don't ﬁX", []string{"Don", "t", "fiX"}},
		{"words stop", "The fox is THE other one", []string{"fox", "one"}},
		{"words case stop", "The fox is THE other one", []string{"fox", "one"}},
		{"words vowels", "a queue of Eier, é", []string{"q", "f", "r", "é"}},
		{"words duplicates", "a rose is a rose", []string{"a", "rose", "is"}},
		{"words", "\ufeffco\u00adop\u200cer ❤\ufe0f a\u200bb 邉\U000e0100x", []string{"cooper", "a", "b", "邉", "x"}},
		{"lines", "\ufeffa\u00adb", []string{"ab"}},
		{"words", long + "é x", []string{long, "é", "x"}},
		{"words", "a" + long + "b", []string{"a" + long[:4094], "éb"}},
		{"soundex", "Ashcraft Tymczak, Pfister 123 日", []string{"A261", "T522", "P236"}},
		{"soundex stop duplicates", "the Robert and a Rupert, Rubin", []string{"R163", "R150"}},
		{"lines", " A  b \r\n\r\n\tc\u00a0\u3000d\u2028e\x00f", []string{"A b", "c d", "e\x00f"}},
		{"lines fold", "Straße\nX", []string{"strasse", "x"}},
		{"lines duplicates", "x\ny\nx", []string{"x", "y"}},
		{"lines", "x" + long + " " + "y", []string{"x" + long[:4094], "é y"}},
		{"code", "int x_1=0x1F;/* don't */", []string{"int", "x_1", "=", "0x1F", ";", "/*", "don", "'", "t", "*/"}},
		{"code", "a>>>=b<<=c->*d...e??f", []string{"a", ">>>=", "b", "<<=", "c", "->*", "d", "...", "e", "??", "f"}},
		{"code", "3.14e-5 1..2 1.a .5 x.5 1.0.0", []string{"3.14e", "-", "5", "1", "..", "2", "1", ".", "a", ".", "5", "x", ".", "5", "1.0.0"}},
		{"code", "\"Größe_2\" ≠ '…' 名前", []string{"\"", "Größe_2", "\"", "≠", "'", "...", "'", "名", "前"}},
		{"code fold", "Foo(BAR)", []string{"foo", "(", "bar", ")"}},
		{"html", "<p CLASS=x>Caf&eacute; <b>B</b>old<br>x<img alt=a SRC=' /I.png '>", []string{"café", "bold", "x", "/i.png"}},
		{"html case", "<a href='/A?x&amp;y'>Go</a>", []string{"/A?x&y", "Go"}},
		{"html", "<a href=" + strings.Repeat("u", 5000) + ">", []string{strings.Repeat("u", 4096)}},
		{"html", "<script>if (a<b) '</p>'</script>x<!-- <p> -->y", []string{"xy"}},
		{"html", "<script><!-- <script>1</script>2 --> 3</script>4", []string{"4"}},
		{"html", "<script><!-- < -- ></script>5 --></script>6", []string{"5", "6"}},
		{"html", "<noscript><p>a</noscript><iframe>b</iframe>c", []string{"a", "c"}},
		{"html stop vowels", "the <i>ro</i>se", []string{"rs"}},
	} {
		if got := tokensOf(settingsOf(t, c.settings), []byte(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%s of %.80q:\n got %.200q\nwant %.200q", c.settings, c.text, got, c.want)
		}
	}
}

// More marks in a row than the standard allows are kept apart.
func TestMarksWithoutEnd(t *testing.T) {
	text := "a" + strings.Repeat("\u0301", 65)
	// Marks do not move past the 30th.
	if got, want := tokensOf(foldedWords, []byte("x"+strings.Repeat("\u0301", 30)+"\u0323")), "x́"+strings.Repeat("\u0301", 29)+"\u0323"; got[0] != want {
		t.Errorf("%+q, want %+q", got, want)
	}
	want := "á" + strings.Repeat("\u0301", 64)
	for _, stream := range []Stream{Words, Lines, HTML, Code} {
		if got := tokensOf(Settings{Stream: stream, Fold: true}, []byte(text)); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %+q, want %+q", stream, got, want)
		}
	}
}

// The first user of a block of an alphabet makes it.
func TestAlphabetsAreShared(t *testing.T) {
	saved := foldedAlphabet.blocks[0x1E00>>blockBits].Load()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 200 {
				r := rune(0x1E00 + i*7%0x200)
				foldedAlphabet.blocks[r>>blockBits].Store(nil)
				allFacts[r>>blockBits].Store(nil)
				text := "x" + string(r) + "y"
				if got, want := tokensOf(foldedWords, []byte(text)), literalWords(text, true); !slices.Equal(got, want) {
					t.Errorf("%q: %q, want %q", text, got, want)
				}
			}
		})
	}
	group.Wait()
	foldedAlphabet.blocks[0x1E00>>blockBits].Store(saved)
}

func benchmarkTokens(b *testing.B, p Settings, text string) {
	doc := []byte(strings.Repeat(text, 200000/len(text)+1))
	z := New(p)
	var t Tokens
	run := func() {
		z.Reset()
		for at := 0; at < len(doc); {
			t.Reset()
			at += z.Next(&t, doc[at:], true)
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
			benchmarkTokens(b, foldedWords, c.text)
		})
	}
}
