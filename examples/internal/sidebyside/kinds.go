package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// A kindRow is a row of a collection of texts of one kind: the text, what a person reads of
// it where that is not the text, and what it is a version of.
type kindRow struct{ text, reads, item string }

// A kindSource is a collection of texts of one kind.
type kindSource struct {
	name, about string
	limit       int // rows
	read        func(packages string) ([]kindRow, error)
}

// kindSources are the collections, from packages of Debian that .ci/setup unpacks into the
// folder packages, from packages that are installed, and from Go's module cache.
var kindSources = []kindSource{
	{"titles", "one-line descriptions of Debian's packages", 3000, stanzaField(`(?m)^Description: (.*)$`, 0)},
	{"names", "organisations in IEEE's registry", 3000, ieee(2)},
	{"addresses", "addresses in IEEE's registry", 3000, ieee(3)},
	{"messages", "messages of LibreOffice in English", 3000, messages(libreOffice, "th", false, 15)},
	{"ar", "the same in Arabic", 3000, messages(libreOffice, "ar", true, 15)},
	{"th", "the same in Thai", 3000, messages(libreOffice, "th", true, 15)},
	{"ja-short", "the same in Japanese", 3000, messages(libreOffice, "ja", true, 8)},
	{"ko-short", "the same in Korean", 3000, messages(libreOffice, "ko", true, 8)},
	{"zh-short", "the same in Chinese", 3000, messages(libreOffice, "zh_CN", true, 8)},
	{"he", "messages of the programs of this machine in Hebrew", 3000, messages(installed, "he", true, 8)},
	{"hi", "the same in Hindi", 3000, messages(installed, "hi", true, 8)},
	{"vi", "the same in Vietnamese", 3000, messages(installed, "vi", true, 8)},
	{"zh", "paragraphs of Debian's installation guide for two machines, in Chinese", 3000, guide("zh_CN", 15)},
	{"ja", "the same in Japanese", 3000, guide("ja", 15)},
	{"ko", "the same in Korean", 3000, guide("ko", 15)},
	{"prose", "the same in English", 3000, guide("en", 40)},
	{"de", "the same in German", 3000, guide("de", 40)},
	{"pages", "the guide's pages as they are, in English, German and French", 900, pages(false)},
	{"reduced", "the text of these pages", 900, pages(true)},
	{"verses", "verses of the four gospels, King James", 3000, gospels},
	{"ocr", "120 words of them each, and a copy with 1, 3 or 5 % of the letters misread", 1000, misread},
	{"logs", "lines of this machine's dpkg.log", 3000, dpkgLog},
	{"json", "ISO 3166-2 as JSON records", 3000, isoRecords},
	{"stanzas", "Debian's index of packages, a record a package", 1500, stanzaField(`(?s)^(.*)$`, 3000)},
	{"xml", "types of files in the XML of shared-mime-info", 1000, mimeTypes},
	{"changelogs", "entries of the changelogs of Debian's packages", 1000, changelogs},
	{"code", "files of two versions of golang.org/x/text", 500, sources},
	{"readmes", "README files of npm packages and Go modules", 500, readmes},
	{"copyrights", "copyright files of Debian's packages", 500, copyrights},
}

// rows reads a collection: different texts, in an order that any machine repeats.
func (s kindSource) rows() ([]kindRow, error) {
	packages, _ := cached("kinds") // without it some of them are empty, and say so
	all, err := s.read(packages)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	seen := map[string]bool{}
	var list []kindRow
	for _, r := range all {
		if r.reads == "" {
			r.reads = r.text
		}
		key := strings.Join(strings.Fields(r.reads), " ")
		if key == "" || seen[key] || !utf8.ValidString(r.text) {
			continue
		}
		seen[key] = true
		if list = append(list, r); len(list) == s.limit {
			break
		}
	}
	if len(list) < 100 {
		return nil, fmt.Errorf("%s: %d rows, want at least 100; .ci/setup sidebyside brings what they are made of", s.name, len(list))
	}
	return list, nil
}

func stanzaField(pattern string, from int) func(string) ([]kindRow, error) {
	return func(string) (list []kindRow, err error) {
		out, err := exec.Command("apt-cache", "dumpavail").Output()
		if err != nil {
			return nil, err
		}
		field := regexp.MustCompile(pattern)
		var texts []string
		for stanza := range strings.SplitSeq(string(out), "\n\n") {
			if m := field.FindStringSubmatch(stanza); m != nil {
				texts = append(texts, m[1])
			}
		}
		slices.Sort(texts) // neighbours in the alphabet resemble one another
		texts = slices.Compact(texts)
		for _, text := range texts[min(len(texts), from):] {
			list = append(list, kindRow{text: text})
		}
		return list, nil
	}
}

func ieee(column int) func(string) ([]kindRow, error) {
	return func(packages string) (list []kindRow, err error) {
		for _, name := range []string{"oui", "mam", "oui36", "iab"} {
			b, err := os.ReadFile(filepath.Join(packages, "usr/share/ieee-data", name+".csv"))
			if err != nil {
				return nil, err
			}
			r := csv.NewReader(bytes.NewReader(b))
			r.FieldsPerRecord, r.LazyQuotes = -1, true
			records, err := r.ReadAll()
			if err != nil {
				return nil, err
			}
			for _, fields := range records {
				if len(fields) > column {
					list = append(list, kindRow{text: strings.TrimSpace(fields[column])})
				}
			}
		}
		slices.SortFunc(list, func(a, b kindRow) int { return strings.Compare(a.text, b.text) })
		return list[min(len(list), 2000):], nil
	}
}

// libreOffice and installed are the folders of catalogues of messages: LibreOffice's, and
// those of all programs of this machine.
const (
	libreOffice = "usr/lib/libreoffice/program/resource"
	installed   = "/usr/share/locale"
)

// messages are those of catalogues: translated, or in English.
func messages(folder, language string, translated bool, minRunes int) func(string) ([]kindRow, error) {
	return func(packages string) (list []kindRow, err error) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(packages, folder)
		}
		files, err := filepath.Glob(filepath.Join(folder, language, "LC_MESSAGES/*.mo"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for i := range binary.LittleEndian.Uint32(b[8:]) {
				at := binary.LittleEndian.Uint32(b[12:])
				if translated {
					at = binary.LittleEndian.Uint32(b[16:])
				}
				length, offset := binary.LittleEndian.Uint32(b[at+8*i:]), binary.LittleEndian.Uint32(b[at+8*i+4:])
				text := string(b[offset : offset+length])
				text, _, _ = strings.Cut(text[strings.LastIndexByte(text, 4)+1:], "\x00") // the singular
				if utf8.RuneCountInString(text) >= minRunes && translated == strings.ContainsFunc(text, func(r rune) bool { return r > 127 }) {
					list = append(list, kindRow{text: text})
				}
			}
		}
		return list, nil
	}
}

func guideFiles(packages, language string) (list []string, err error) {
	for _, machine := range []string{"amd64", "arm64"} {
		files, err := filepath.Glob(filepath.Join(packages, "usr/share/doc/installation-guide-"+machine, language, "*.html"))
		if err != nil {
			return nil, err
		}
		list = append(list, files...)
	}
	return list, nil
}

func guide(language string, minRunes int) func(string) ([]kindRow, error) {
	return func(packages string) (list []kindRow, err error) {
		files, err := guideFiles(packages, language)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			_, page, err := readPage(file)
			if err != nil {
				return nil, err
			}
			for n := range page.Descendants() {
				if n.Type != html.ElementNode || n.Data != "p" && n.Data != "dd" && n.Data != "li" {
					continue
				}
				if text := textOf(n); utf8.RuneCountInString(text) >= minRunes {
					list = append(list, kindRow{text: text})
				}
			}
		}
		return list, nil
	}
}

func readPage(file string) ([]byte, *html.Node, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	page, err := html.Parse(bytes.NewReader(b))
	return b, page, err
}

// textOf is what a person reads of a page.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode && (d.Parent == nil || d.Parent.Data != "script" && d.Parent.Data != "style"):
			b.WriteString(d.Data)
		case d.Type == html.ElementNode && slices.Contains([]string{"p", "div", "li", "td", "h1", "h2", "h3", "br", "tr", "dt", "dd"}, d.Data):
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func pages(reduced bool) func(string) ([]kindRow, error) {
	return func(packages string) (list []kindRow, err error) {
		for _, language := range []string{"en", "de", "fr"} {
			files, err := guideFiles(packages, language)
			if err != nil {
				return nil, err
			}
			for _, file := range files {
				b, page, err := readPage(file)
				if err != nil {
					return nil, err
				}
				r := kindRow{text: string(b), reads: textOf(page), item: language + "/" + filepath.Base(file)}
				if reduced {
					r.text = r.reads
				}
				list = append(list, r)
			}
		}
		return list, nil
	}
}

func gospels(string) (list []kindRow, err error) {
	for _, book := range []string{"matt1:1-28:20", "mark1:1-16:20", "luke1:1-24:53"} {
		out, err := exec.Command("bible", "-f", book).Output()
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			if _, verse, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				list = append(list, kindRow{text: verse})
			}
		}
	}
	return list, nil
}

// misread exchanges letters for those that they look like.
func misread(string) (list []kindRow, err error) {
	verses, err := gospels("")
	if err != nil {
		return nil, err
	}
	var words []string
	for _, v := range verses {
		words = append(words, strings.Fields(v.text)...)
	}
	looks := map[rune]string{'e': "c", 'l': "1", 'o': "0", 'm': "rn", 'h': "b", 'i': "l", 'a': "o", 'n': "u", 't': "f", 's': "5", 'c': "e", 'u': "n", 'r': "t", 'd': "cl", 'w': "vv", 'g': "q", 'b': "h"}
	random := rand.New(rand.NewPCG(1, 2))
	for i := 0; len(words) >= 120; i++ {
		text := strings.Join(words[:120], " ")
		words = words[120:]
		var copied strings.Builder
		for _, c := range text {
			if other, ok := looks[c]; ok && random.Float64() < []float64{0.01, 0.03, 0.05}[i%3] {
				copied.WriteString(other)
			} else {
				copied.WriteRune(c)
			}
		}
		item := fmt.Sprint(i)
		list = append(list, kindRow{text: text, item: item}, kindRow{text: copied.String(), item: item})
	}
	return list, nil
}

func dpkgLog(string) (list []kindRow, err error) {
	f, err := os.Open("/var/log/dpkg.log")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		list = append(list, kindRow{text: lines.Text()})
	}
	return list, nil
}

func isoRecords(string) (list []kindRow, err error) {
	b, err := os.ReadFile("/usr/share/iso-codes/json/iso_3166-2.json")
	if err != nil {
		return nil, err
	}
	var all map[string][]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	for _, record := range all["3166-2"] {
		var compact bytes.Buffer
		if err := json.Compact(&compact, record); err != nil {
			return nil, err
		}
		var values map[string]string
		if err := json.Unmarshal(record, &values); err != nil {
			return nil, err
		}
		var reads []string // the values, for what a person reads are not the keys
		for _, key := range slices.Sorted(maps.Keys(values)) {
			reads = append(reads, values[key])
		}
		list = append(list, kindRow{text: compact.String(), reads: strings.Join(reads, " ")})
	}
	return list, nil
}

func mimeTypes(string) (list []kindRow, err error) {
	b, err := os.ReadFile("/usr/share/mime/packages/freedesktop.org.xml")
	for _, text := range regexp.MustCompile(`(?s)<mime-type.*?</mime-type>`).FindAllString(string(b), -1) {
		list = append(list, kindRow{text: text})
	}
	return list, err
}

func changelogs(string) (list []kindRow, err error) {
	files, err := filepath.Glob("/usr/share/doc/*/changelog.Debian.gz")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		out, err := exec.Command("gzip", "-dc", file).Output()
		if err != nil {
			return nil, err
		}
		entries := regexp.MustCompile(`\n\S.*urgency=`).Split("\n"+string(out), 10)
		for _, text := range entries[min(1, len(entries)):] {
			list = append(list, kindRow{text: strings.TrimSpace(text)})
		}
	}
	return list, nil
}

func sources(string) (list []kindRow, err error) {
	for _, version := range []string{"v0.14.0", "v0.43.0"} {
		cmd := exec.Command("go", "mod", "download", "-json", "golang.org/x/text@"+version)
		cmd.Dir = os.TempDir()
		out, err := cmd.Output()
		if err != nil {
			return nil, err
		}
		var module struct{ Dir string }
		if err := json.Unmarshal(out, &module); err != nil {
			return nil, err
		}
		files, err := filepath.Glob(filepath.Join(module.Dir, "*", "*.go"))
		if err != nil {
			return nil, err
		}
		more, err := filepath.Glob(filepath.Join(module.Dir, "*", "*", "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range append(files, more...) {
			b, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if item, err := filepath.Rel(module.Dir, file); err == nil && len(b) < 20000 {
				list = append(list, kindRow{text: string(b), item: item})
			}
		}
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortStableFunc(list, func(a, b kindRow) int { return strings.Compare(a.item, b.item) })
	return list, nil
}

func readmes(string) (list []kindRow, err error) {
	node, err := cached("node")
	if err != nil {
		return nil, err
	}
	modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return nil, err
	}
	caches := filepath.Dir(node)
	return textFiles(func(path string) bool {
		return strings.HasPrefix(strings.ToLower(filepath.Base(path)), "readme") && !strings.HasSuffix(path, ".go")
	}, strings.TrimSpace(string(modules)), filepath.Join(caches, "node", "node_modules"), filepath.Join(caches, "docs", "node_modules"), filepath.Join(caches, "pglite", "node_modules"), "/usr/share/nodejs", "/usr/share/npm", "/usr/lib/node_modules")
}

func copyrights(string) ([]kindRow, error) {
	return textFiles(func(path string) bool { return filepath.Base(path) == "copyright" }, "/usr/share/doc")
}

func textFiles(wanted func(path string) bool, folders ...string) (list []kindRow, err error) {
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !wanted(path) {
				return nil // what cannot be read is not part of the collection
			}
			if b, err := os.ReadFile(path); err == nil && len(b) < 20000 {
				list = append(list, kindRow{text: string(b)})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}
