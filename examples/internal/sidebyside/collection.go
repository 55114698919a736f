package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alike-sql/alike/examples/internal/corpus"
	"github.com/alike-sql/alike/sketch"
)

// A collection is a file with a document a line, each a JSON string, and what
// is true about them. Those past Documents are checked in while an index is live.
type collection struct {
	Name      string
	About     string
	Documents int
	Bytes     int64 // of the documents, without the checkins
	Pairs     []int // of resemblance one half and more, by band; none of a collection for growth

	path    string
	lengths []int         // running total of bytes
	truth   []corpus.Pair // by B
	queries []int
}

// checkins is how many documents a collection has more than it says.
const checkins = 1000

// shingling is the set of shingles that resemblance is about, four words each, and the
// sketch and the filter that are called "text" here.
const shingling = "words w=4 t=84 k=12 s=7"

func makeCollection(dir, name string, c config) (*collection, error) {
	var next func() (string, bool)
	col := &collection{Name: name, path: filepath.Join(dir, name+".jsonl")}
	limit := c.documents
	generated := func(bytes, n int) {
		g, made := corpus.New(1997, bytes, 0.3), 0
		col.About = fmt.Sprintf("generated, %d bytes each, three in ten an edit of another one", bytes)
		next = func() (string, bool) {
			d := g.Next()
			if d.Edit != corpus.Original && made < n {
				col.queries = append(col.queries, made)
			}
			made++
			return d.Text, made <= n+checkins
		}
	}
	files := func(roots ...string) error {
		texts, err := readFiles(roots)
		if err != nil {
			return err
		}
		next = func() (string, bool) {
			if len(texts) == 0 {
				return "", false
			}
			text := texts[0]
			texts = texts[1:]
			return text, true
		}
		return nil
	}
	switch name {
	case "short":
		generated(500, c.documents)
	case growth:
		limit = slices.Max(c.sizes)
		generated(500, limit)
		col.About += "; its truth is not computed"
	case "long":
		limit /= 10
		generated(5000, limit)
	case "real":
		col.About = "manual pages, licences, documentation and sources of this machine"
		out, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return nil, err
		}
		goroot := strings.TrimSpace(string(out))
		if err := files("/usr/share/man", "/usr/share/doc", "/usr/share/common-licenses", "/usr/include",
			"/usr/share/perl", "/usr/lib/python3", filepath.Join(goroot, "src")); err != nil {
			return nil, err
		}
		limit /= 10
	case "modules":
		col.About = "sources, documentation and test data in the module cache of Go"
		out, err := exec.Command("go", "env", "GOMODCACHE").Output()
		if err != nil {
			return nil, err
		}
		if err := files(strings.TrimSpace(string(out))); err != nil {
			return nil, err
		}
		limit /= 10
	case "folder":
		col.About = "the files of " + filepath.Base(c.folder)
		if err := files(c.folder); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("sidebyside: no collection %q: short, long, real, modules, folder, growth", name)
	}
	if err := col.write(next, limit); err != nil {
		return nil, err
	}
	if col.queries == nil {
		for i := range col.Documents {
			col.queries = append(col.queries, i)
		}
	}
	return col, nil
}

// growth is the collection of the largest sizes, whose truth nobody computes:
// it is for time, bytes and memory.
const growth = "growth"

// write stores the documents and finds the pairs.
func (c *collection) write(next func() (string, bool), limit int) error {
	f, err := os.Create(c.path)
	if err != nil {
		return err
	}
	defer f.Close()
	shingles, err := corpus.Shingles(shingling)
	if err != nil {
		return err
	}
	w, total := bufio.NewWriterSize(f, 1<<20), 0
	var truth *corpus.Truth
	if c.Name != growth {
		truth = corpus.NewTruth(shingles)
	}
	for {
		text, ok := next()
		if !ok || len(c.lengths) == limit+checkins {
			break
		}
		line, err := json.Marshal(text)
		if err != nil {
			return err
		}
		w.Write(append(line, '\n'))
		total += len(text)
		c.lengths = append(c.lengths, total)
		if truth != nil {
			truth.Add(text)
		}
	}
	if len(c.lengths) <= checkins {
		return fmt.Errorf("sidebyside: collection %s: %d documents, want more than %d", c.Name, len(c.lengths), checkins)
	}
	c.Documents = len(c.lengths) - checkins
	c.Bytes = c.bytes(c.Documents)
	if truth == nil {
		return w.Flush()
	}
	c.truth = truth.Pairs(0.5)
	slices.SortFunc(c.truth, func(p, q corpus.Pair) int { return cmp.Compare(p.B, q.B) })
	c.Pairs = make([]int, len(bandFloors))
	for _, p := range c.pairs(c.Documents) {
		c.Pairs[band(p.Resemblance)]++
	}
	return w.Flush()
}

// bytes returns the length of the first n documents.
func (c *collection) bytes(n int) int64 { return int64(c.lengths[n-1]) }

// pairs returns the true pairs among the first n documents.
func (c *collection) pairs(n int) []corpus.Pair {
	i, _ := slices.BinarySearchFunc(c.truth, n, func(p corpus.Pair, n int) int { return cmp.Compare(p.B, n) })
	return c.truth[:i]
}

// questions returns up to a thousand of the first n documents to ask about.
// In a generated collection they are edits, which have something to be found.
func (c *collection) questions(n int) []int {
	i, _ := slices.BinarySearch(c.queries, n)
	q := slices.Clone(c.queries[:i])
	rand.New(rand.NewPCG(7, 7)).Shuffle(len(q), func(i, j int) { q[i], q[j] = q[j], q[i] })
	return q[:min(len(q), 1000)]
}

// readFiles returns the different texts among the files of the folders, in an
// order of its own so that any number of the first of them is a fair sample.
func readFiles(roots []string) ([]string, error) {
	var texts []string
	seen := map[int64]bool{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // what cannot be read is not part of the collection
			}
			text, err := readText(path)
			if err == nil && len(text) >= 200 && utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
				if h := sketch.ContentHash([]byte(text)); !seen[h] {
					seen[h] = true
					texts = append(texts, text)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	rand.New(rand.NewPCG(1997, 7)).Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	return texts, nil
}

// readText reads a file of at most 256 KB, through gzip where it is packed.
func readText(path string) (string, error) {
	const limit = 256 << 10
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return "", err
		}
	}
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if len(b) > limit {
		return "", fmt.Errorf("%s: longer than %d bytes", path, limit)
	}
	return string(b), err
}

// texts reads documents of a collection's file one by one, as pgx copies rows.
type texts struct {
	file   *os.File
	lines  *bufio.Scanner
	at, to int // the numbers of the next document and of the end
	text   string
	err    error
}

// openTexts opens the documents from one number to before another.
func openTexts(path string, from, to int) (*texts, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t := &texts{file: f, lines: bufio.NewScanner(bufio.NewReaderSize(f, 1<<20)), to: to}
	t.lines.Buffer(nil, 8<<20)
	for t.at < from && t.lines.Scan() {
		t.at++
	}
	return t, nil
}

func (t *texts) close() { t.file.Close() }

func (t *texts) Next() bool {
	if t.err != nil || t.at >= t.to || !t.lines.Scan() {
		return false
	}
	t.err = json.Unmarshal(t.lines.Bytes(), &t.text)
	t.at++
	return t.err == nil
}

// Values returns the number and the text of a document.
func (t *texts) Values() ([]any, error) { return []any{int64(t.at - 1), t.text}, nil }

func (t *texts) Err() error { return cmp.Or(t.err, t.lines.Err()) }
