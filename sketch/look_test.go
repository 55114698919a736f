package sketch

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func look(texts ...string) (preset, reason string, looked int) {
	return LookThrough(func(yield func([]byte) bool) {
		for _, text := range texts {
			if !yield([]byte(text)) {
				return
			}
		}
	})
}

// Different notes of a few words never look equal, in any script: of all pairs of 600
// notes under the preset that a look chooses, none is estimated at 0.95 or more, nor
// further than a quarter from the exact value.
func TestShortNotesStayApart(t *testing.T) {
	for _, language := range [][4][]string{
		{{"明天", "后天", "周一", "周五", "下月"}, {"上午", "下午", "晚上"}, {"三点", "五点"}, {
			"在会议室开会", "去机场接客户", "给妈妈打电话", "交第一季度报告", "交第二季度报告", "还图书馆的书", "买牛奶和面包", "看牙医",
			"给猫打疫苗", "给狗打疫苗", "付房租", "付水电费", "修理自行车", "参加小李的婚礼", "参加小王的婚礼", "整理书房",
			"练习钢琴", "练习小提琴", "复习数学", "复习物理"}},
		{{"tomorrow ", "on Friday ", "on Monday ", "next week ", "today "}, {"at noon ", "at night ", "in the morning "}, {"room 3: ", "room 4: "}, {
			"meet the auditors", "call the dentist", "call the plumber", "pay the rent", "pay the gas bill", "order toner", "order paper", "water the plants",
			"back up the server", "restore the server", "review the budget", "sign the lease", "sign the contract", "book a flight", "book a hotel", "send invoices",
			"clean the lab", "test the alarm", "fix the door", "buy milk"}},
		{{"내일 ", "모레 ", "월요일 ", "금요일 ", "다음 달 "}, {"오전 ", "오후 ", "저녁 "}, {"세 시에 ", "네 시에 "}, {
			"회의실에서 회의", "공항에서 손님 마중", "어머니께 전화", "일분기 보고서 제출", "이분기 보고서 제출", "도서관 책 반납", "우유와 빵 사기", "치과 가기",
			"고양이 예방접종", "강아지 예방접종", "월세 내기", "전기세 내기", "자전거 수리", "민수 결혼식 참석", "지수 결혼식 참석", "서재 정리",
			"피아노 연습", "바이올린 연습", "수학 복습", "물리 복습"}},
	} {
		var notes []string
		for _, day := range language[0] {
			for _, half := range language[1] {
				for _, place := range language[2] {
					for _, task := range language[3] {
						notes = append(notes, day+half+place+task)
					}
				}
			}
		}
		preset, _ := Look(notes)
		s := mustSketcher(t, preset)
		var sketches [][]byte
		for _, note := range notes {
			s.Document([]byte(note))
			sketches = append(sketches, s.AppendSketch(nil))
		}
		pairs, close := 0, 0
		for i, a := range sketches {
			for j := range i {
				pairs++
				r, err := Resemblance(a, sketches[j])
				if err != nil {
					t.Fatal(err)
				}
				if r < 0.6 && pairs%50 > 0 {
					continue
				}
				close++
				exact, _, err := ExactResemblance(s.Profile(), []byte(notes[i]), []byte(notes[j]))
				if err != nil {
					t.Fatal(err)
				}
				if r >= 0.95 || r > exact+0.25 || r < exact-0.25 {
					t.Errorf("%s: %q and %q: estimate %.3f, exact %.3f", preset, notes[i], notes[j], r, exact)
				}
			}
		}
		if len(notes) != 600 || close < 1000 {
			t.Errorf("%s: %d pairs of %d notes are close, want at least 1000 of 600", preset, close, len(notes))
		}
	}
}

func TestLook(t *testing.T) {
	source := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	verse := "And God said, Let there be light: and there was light."
	address := "Four score and seven years ago our fathers brought forth on this continent, a new nation, conceived in Liberty, " +
		"and dedicated to the proposition that all men are created equal. Now we are engaged in a great civil war, testing " +
		"whether that nation, or any nation so conceived and so dedicated, can long endure."
	page := "<!DOCTYPE html>\n<html><head><title>A page</title></head><body><p>Words of it.</p></body></html>"
	for _, c := range []struct {
		want, reason string
		texts        []string
	}{
		{"prose", "no text", nil},
		{"prose", "no text", []string{"", " \n"}},
		{"paragraphs", "less than 2000", []string{address, address, verse}},
		{"paragraphs", "less than 2000", []string{address + " The train leaves at 12:30.\nYours"}},
		{"paragraphs", "is 1999 characters, less than 2000", []string{strings.Repeat("words and ", 200)[:1999]}},
		{"prose", "is 2000 characters, at least 2000", []string{strings.Repeat("words,and ", 200)[:1999] + "."}},
		{"names", "texts looked at (3)", []string{"Linux kernel headers", "The GNU C library", "A text editor"}},
		{"short", "54 characters", []string{verse}},
		{"short", "less than 250", []string{"12 Pinkerton Circuit, Richlands 4560", "8 Stanley Street, Winston Hills 4223"}},
		{"names", "less than 30", []string{"Le café est fermé à midi", "Съешь же ещё этих мягких булок", "ναι"}},
		{"names", "less than 30", []string{"我能吞下玻璃而不伤身体。", "Linux 内核的文件系统"}},
		{"names", "28 characters", []string{"나는 유리를 먹을 수 있어요. 그래도 아프지 않아요"}},
		{"unsegmented", "% of the characters", []string{strings.Repeat("我能吞下玻璃而不伤身体。", 3)}},
		{"unsegmented", "% of the characters", []string{"私はガラスを食べられます。それは私を傷つけません。それは私を傷つけません。"}},
		{"unsegmented", "% of the characters", []string{"나는 유리를 먹을 수 있어요. 그래도 아프지 않아요. 나는 유리를"}},
		{"unsegmented", "% of the characters", []string{"ฉันกินกระจกได้ แต่มันไม่ทำให้ฉันเจ็บ"}},
		{"pages", "2 of the texts looked at (3)", []string{page, "\n" + page, verse}},
		{"records", "are JSON", []string{`{"name": "Ada", "city": "London"}`, `[{"name": "Bob"}]`}},
		{"records", "are JSON or XML", []string{"<?xml version='1.0'?>\n<part><name>A valve</name></part>", "<part><name>A valve</name></part>", "<part/>"}},
		{"pages", "are HTML", []string{"<P>A page</P><P>of words</P>", "<div class='x'><p>one</p></div>", "<part/>"}},
		{"records", "are JSON", []string{`{"at": "2026-11-22T06:39:12", "name": "Ada"}`}},
		{"names", "less than 30", []string{"[draft] the title", "{x} of y"}},
		{"logs", "single lines with a time", []string{"2026-11-22 06:39:12 status installed libc6:amd64 2.36-9", "2026-11-22 06:39:13 startup archives unpack"}},
		{"logs", "single lines with a time", []string{"Nov 22 06:39:12 host sshd[812]: Accepted publickey for root from 192.0.2.1 port 4711"}},
		{"code", "source code", []string{source("feature.go"), source("list.go"), source("sample.go")}},
		{"code", "source code", []string{source("testdata/golden/families.py")}},
		{"code", "source code", []string{"#ifndef A\n#define A\n#include <b.h>\n/* three flags */\n#define F 1\n#define G 2\n#endif\n"}},
		{"names", "less than 30", []string{"#define\n#if"}},
		{"code", "source code", []string{"int main(void) {\n  puts(\"x\");\n  return 0;\n}\n"}},
		{"prose", "at least 2000", []string{source("README.md")}},
		{"prose", "no text", []string{"\xff\xfe", "\x00\x01"}},
		{"names", "(1)", []string{"\x00", "a title", "title \xc3"}},
		{"short", "less than 250", []string{"العنوان in a long title of English words", "A title"}},
		{"unsegmented", "are Arabic or Hebrew", []string{"المحور الثانوي", "إغلاق النافذة"}},
		{"unsegmented", "are Arabic or Hebrew", []string{"המחור השניוני"}},
		{"names", "less than 30", []string{"דו and a name of eight words"}},
		{"unsegmented", "are Arabic or Hebrew", []string{"المحور الثانوي إغلاق النافذة المحور"}},
		{"paragraphs", "less than 2000", []string{strings.Repeat("المحور الثانوي ", 40)}},
		{"short", "words have 304 characters", []string{strings.Repeat("UleoUvqGPZ1cjKZtI2d", 16)}},
		{"short", "words have 76 characters", []string{strings.Repeat(strings.Repeat("UleoUvqGPZ1cjKZtI2d", 4)+"\n", 9)}},
		{"short", "less than 250", []string{"+49 30 901820", "192.0.2.17"}},
		{"sequences", "words have 480 characters", []string{strings.Repeat("GATTACACATTAGGCA", 30)}},
		{"sequences", "words have 64 characters", []string{strings.Repeat("3141592653589793", 4)}},
		{"paragraphs", "less than 2000", []string{strings.Repeat("3141592653589793238462643383279 ", 12)}},
	} {
		preset, reason, looked := look(c.texts...)
		if preset != c.want || !strings.Contains(reason, c.reason) {
			t.Errorf("%.60q: %s: %s; want %s: %s", c.texts, preset, reason, c.want, c.reason)
		}
		if _, err := ParseProfile(preset); err != nil {
			t.Error(err)
		}
		more := append([]string{"", "\t"}, c.texts...)
		if again, why, n := look(more...); again != preset || why != reason || n != looked {
			t.Errorf("%.60q with blank texts: %s: %s (%d), want %s: %s (%d)", c.texts, again, why, n, preset, reason, looked)
		}
	}
}

// What lies behind the first characters does not count.
func TestLookReadsTheBeginning(t *testing.T) {
	text := strings.Repeat("é word ", 600)
	preset, reason, _ := look(text + strings.Repeat("内", 100000))
	if want, why, _ := look(string(firstCharacters([]byte(text), 4000))); preset != want || reason != why {
		t.Errorf("%s: %s, want %s: %s", preset, reason, want, why)
	}
	for n, want := range map[int]string{0: "", 1: "é", 3: "é w", 5: "é w", 4: "é w"} {
		if got := string(firstCharacters([]byte("é w"), n)); got != want {
			t.Errorf("%d characters: %q, want %q", n, got, want)
		}
	}
}

// Copies with misread letters are found under the preset that a look chooses, and rows that
// have nothing to do with one another are not: at least 0.97 of the copies of the paragraphs
// and lines of this repository's pages, as whole texts and cut to titles and names.
func TestLookFindsMisreadCopies(t *testing.T) {
	pages, err := filepath.Glob("../*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../*/*/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var whole []string
	seen := map[string]bool{}
	for _, page := range append(append(pages, more...), "../README.md") {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for text := range strings.SplitSeq(string(b), "\n\n") {
			if text = strings.Join(strings.Fields(text), " "); len(text) > 250 && !strings.HasPrefix(text, "```") && !seen[text[:40]] {
				seen[text[:40]] = true
				whole = append(whole, text)
			}
		}
	}
	for _, c := range []struct {
		want            string
		length, letters int // of a text, and for each that is misread
	}{{"paragraphs", 700, 25}, {"paragraphs", 300, 25}, {"short", 120, 25}, {"short", 40, 20}, {"names", 24, 20}} {
		random := rand.New(rand.NewPCG(14, uint64(c.length)))
		var texts, copies []string
		for _, text := range whole {
			text := strings.TrimSpace(string(firstCharacters([]byte(text), c.length)))
			misread := []rune(text)
			for range max(1, len(misread)/c.letters) {
				misread[random.IntN(len(misread))] = rune('a' + random.IntN(26))
			}
			texts, copies = append(texts, text), append(copies, string(misread))
		}
		preset, reason := Look(texts)
		if preset != c.want {
			t.Errorf("%d characters: %s, since %s; want %s", c.length, preset, reason, c.want)
			continue
		}
		s := mustSketcher(t, preset)
		atLeast := s.Profile().AtLeast()
		type row struct {
			sketch   []byte
			features []Feature
		}
		rowOf := func(text string) row {
			s.Document([]byte(text))
			b, err := Cut(nil, s.AppendSketch(nil), s.Profile().StoredBits())
			if err != nil {
				t.Fatal(err)
			}
			return row{b, s.AppendFeatures(nil)}
		}
		answers := func(a, b row) bool {
			for i, f := range a.features {
				if f == b.features[i] {
					r, err := Resemblance(a.sketch, b.sketch)
					if err != nil {
						t.Fatal(err)
					}
					return r >= atLeast
				}
			}
			return false
		}
		found, wrong := 0, 0
		for i := range texts {
			original, misread := rowOf(texts[i]), rowOf(copies[i])
			if answers(original, misread) {
				found++
			}
			if other := (i + len(texts)/2) % len(texts); answers(misread, rowOf(texts[other])) {
				wrong++
			}
		}
		if n := len(texts); n < 200 || 100*found < 97*n || 100*wrong > 2*n {
			t.Errorf("%s, %d characters: %d of %d misread copies found, %d wrong", preset, c.length, found, n, wrong)
		}
	}
}
