package source

import "testing"

func TestLiterals(t *testing.T) {
	for in, want := range map[string]string{
		`O'Hara\`:  `'O''Hara\'`,
		"a\u202eb": `U&'a\+00202Eb'`,
		"a\n'\\":   `U&'a\+00000A''\\'`,
		"é":        `'é'`,
		"":         `''`,
	} {
		if got := postgresText(in); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
}
