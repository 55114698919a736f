package token

import "testing"

// Codes of Apache Commons Codec 1.17.1, except where an accent comes off, which
// it refuses.
func TestAppendSoundex(t *testing.T) {
	for word, want := range map[string]string{
		"Ashcraft": "A261", "Ashcroft": "A261", "Tymczak": "T522", "Pfister": "P236",
		"Robert": "R163", "Rupert": "R163", "Rubin": "R150", "Honeyman": "H555",
		"Washington": "W252", "Lee": "L000", "Gutierrez": "G362", "Jackson": "J250",
		"VanDeusen": "V532", "a": "A000", "whhwhc": "W200", "bhhb": "B000", "bab": "B100",
		"schwartz": "S632", "yhwy": "Y000", "qqwqaq": "Q200",
		"3rd": "R300", "x86": "X000", "o'clock": "O242",
		"Müller": "M460", "Ångström": "A523", "Kraków": "K620",
		"": "", "42": "", "-'_": "", "Привет": "", "\xff": "",
	} {
		if got := string(AppendSoundex([]byte("x"), []byte(word))); got != "x"+want {
			t.Errorf("%q: got %q, want %q", word, got[1:], want)
		}
	}
}

func TestAppendSoundexAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 8)
	plain, accented := []byte("gettysburg"), []byte("ångström")
	if n := testing.AllocsPerRun(100, func() {
		dst = AppendSoundex(dst[:0], plain)
		dst = AppendSoundex(dst[:0], accented)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkAppendSoundex(b *testing.B) {
	word, dst := []byte("gettysburg"), make([]byte, 0, 4)
	b.SetBytes(int64(len(word)))
	for b.Loop() {
		dst = AppendSoundex(dst[:0], word)
	}
}
