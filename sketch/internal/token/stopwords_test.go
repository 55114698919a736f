package token

import (
	"strings"
	"testing"
)

func TestIsStopWord(t *testing.T) {
	// Snowball's list in its own order.
	const list = `i me my myself we our ours ourselves you your yours yourself yourselves he him his
		himself she her hers herself it its itself they them their theirs themselves what which who whom
		this that these those am is are was were be been being have has had having do does did doing would
		should could ought i'm you're he's she's it's we're they're i've you've we've they've i'd you'd
		he'd she'd we'd they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't
		haven't hadn't doesn't don't didn't won't wouldn't shan't shouldn't can't cannot couldn't mustn't
		let's that's who's what's here's there's when's where's why's how's a an the and but if or because
		as until while of at by for with about against between into through during before after above
		below to from up down in out on off over under again further then once here there when where why
		how all any both each few more most other some such no nor not only own same so than too very`
	words := strings.Fields(list)
	if len(words) != 174 {
		t.Fatalf("%d words, want 174", len(words))
	}
	for _, word := range words {
		if !IsStopWord([]byte(word)) {
			t.Errorf("%q is none", word)
		}
		for _, other := range []string{word + "x", "x" + word, strings.ToUpper(word)} {
			if IsStopWord([]byte(other)) {
				t.Errorf("%q is one", other)
			}
		}
	}
	for _, word := range []string{"", "well", "hell", "shell", "ill", "cant", "wont", "war", "nation", "selfselves", "it\x00"} {
		if IsStopWord([]byte(word)) {
			t.Errorf("%q is one", word)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		for _, word := range [...]string{"themselves", "gettysburg", "a"} {
			var buf [16]byte
			IsStopWord(buf[:copy(buf[:], word)])
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkIsStopWord(b *testing.B) {
	var words [][]byte
	for _, w := range strings.Fields("four score and seven years ago our fathers brought forth on this continent a new nation") {
		words = append(words, []byte(w))
	}
	for i := 0; b.Loop(); i++ {
		IsStopWord(words[i&15])
	}
}
