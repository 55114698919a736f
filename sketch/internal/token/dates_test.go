package token

import (
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch/internal/kerneltest"
)

// blanked is a text as dated gives it to the tokenizer, taken in pieces of n bytes.
func blanked(text string, n int) string {
	var d dated
	d.Tokenizer = keeper{}
	src := []byte(text)
	var out []byte
	for end := 0; ; {
		end = min(end+n, len(src))
		var t Tokens
		used := d.Next(&t, src[len(out):end], end == len(src))
		out = append(out, d.text[:used]...)
		if end == len(src) && len(out) == end {
			return string(out)
		}
	}
}

// A keeper takes every byte.
type keeper struct{}

func (keeper) Next(_ *Tokens, src []byte, _ bool) int { return len(src) }
func (keeper) Reset()                                 {}

// Between < and > stands what is dropped.
func TestDates(t *testing.T) {
	for _, marked := range []string{
		"due <2026-11-22>, paid <22.11.2026>.", "<2026/1/2> <1/2/2026> <11/22/26> <22/11/26> <31-12-1999> <12-31-1999> <2026.11.22>",
		"<22.11.26> but 2.11.26", "<Nov 22>; <November 22nd>, <November 22, 2026>. <Nov. 3rd 2026>", "<22 Nov 2026> <22nd of November> <22-Nov-2026>",
		"in <November 2026> it may rain; <May 3> and may", "<Sun Nov 22 12:53:22 UTC 2026>", "<Sun, 22 Nov 2026 12:53:22 +0100>: mail",
		"127.0.0.1 - - [<22/Nov/2026:10:00:00 +0000>] GET", "<Nov  2 10:15:01> host sshd[12]", "<2026-11-22T10:15:30.123456Z> ok",
		"<2026-11-22 10:15:30,123> INFO", "<20261122T101530Z> <20261122T1015+0100>", "at <10:15>, <9:05 pm> or <10 a.m.>", "<10:15 GMT>+x",
		"于<2026年11月22日>开会", "<11月 22日><10时15分>", "<2026년 11월 22일> 회의 <10시 5분>", "<2026年>の<3月4日>", "<3点15分> 3点建议",
		"10.11.12.13 1.2.3 2026 8:5 10:99 99/99/99 2026-13-01 2026-02-40", "x2026-11-22 2026-11-22x 1-2026-11-22 2026-11-22-1 2026-11-22:7",
		"v2026-11-22", "log-<2026-11-22>.txt", "ämay 3, dismay 3, mayor 3", "sunday morning, march on, second 2nd", "é<2026-11-22>é", "(<22.11.2026>)",
		"tomorrow <3rd May>. <4th of July 1999>!", "<Mon., 3 May 2026 at 10:15>", "<10:15, 3 May> <7pm 3 May 2026>", "mod 5, sep 99", "<\t>"[1:2],
		strings.Repeat("word ", 5000) + "<2026-11-22>" + strings.Repeat(" tail", 3000),
	} {
		text := strings.NewReplacer("<", "", ">", "").Replace(marked)
		var want strings.Builder
		within := false
		for i := range len(marked) {
			switch c := marked[i]; {
			case c == '<' || c == '>':
				within = c == '<'
			case within:
				want.WriteByte(' ')
			default:
				want.WriteByte(c)
			}
		}
		for _, n := range []int{1, 2, 7, 97, 1 << 20} {
			if n < 90 && len(text) > 1000 {
				continue
			}
			if got := blanked(text, n); got != want.String() {
				t.Errorf("%.200q in pieces of %d: %.200q, want %.200q", text, n, got, want.String())
				break
			}
		}
	}
}

// TestDatesOfTheReference: 600 texts made of pieces of dates, of which the program
// beside them, whose grammar is one of expressions, says what remains.
func TestDatesOfTheReference(t *testing.T) {
	changed := 0
	lines := kerneltest.GoldenLines(t, "../../testdata/golden", "dates.tsv")
	for i, line := range lines {
		if got := blanked(line[0], 1+i%150); got != line[1] {
			t.Errorf("%q: %q, want %q", line[0], got, line[1])
		}
		if line[0] != line[1] {
			changed++
		}
	}
	if len(lines) != 600 || changed < 150 {
		t.Errorf("%d texts, %d with dates, want 600, at least 150", len(lines), changed)
	}
}

func BenchmarkDates(b *testing.B) {
	line := "Nov 22 10:15:01 host sshd[1234]: Accepted publickey for root from 10.0.0.1 port 52222 ssh2\n"
	text := []byte(strings.Repeat(line, 100))
	settings := Settings{Stream: Words, Fold: true, Dates: true}
	b.SetBytes(int64(len(text)))
	z := New(settings)
	for b.Loop() {
		z.Reset()
		var t Tokens
		for rest := text; len(rest) > 0; {
			t.Reset()
			rest = rest[z.Next(&t, rest, true):]
		}
	}
}
