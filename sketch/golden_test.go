package sketch

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/alike-sql/alike/sketch/internal/kernel"
)

// A goldenVector is what reference.py, beside vectors.json, makes of a document:
// an implementation of FORMAT.md in another language.
type goldenVector struct {
	Name         string    `json:"name"`
	Profile      string    `json:"profile"`
	Text         string    `json:"text"`
	Base64       []byte    `json:"base64"` // of a text that is not UTF-8
	Tokens       *[]string `json:"tokens"` // of short documents
	Fingerprints []string  `json:"fingerprints"`
	Shingles     int64     `json:"shingles"`
	ContentHash  string    `json:"content_hash"`
	Sketch       string    `json:"sketch"`
	Features     [][2]any  `json:"features"`
	Forest       string    `json:"forest/0"`
}

func goldenVectors(t *testing.T) (list []goldenVector) {
	t.Helper()
	data, err := os.ReadFile("testdata/golden/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 40 {
		t.Fatalf("%d vectors, want at least 40", len(list))
	}
	return list
}

func (v goldenVector) document() []byte {
	if v.Base64 != nil {
		return v.Base64
	}
	return []byte(v.Text)
}

func TestGoldenVectors(t *testing.T) {
	for _, v := range goldenVectors(t) {
		p := mustProfile(t, v.Profile)
		doc := v.document()
		if got := p.String(); got != v.Profile {
			t.Errorf("%s: the profile is spelled %q, want %q", v.Name, got, v.Profile)
		}
		if got := strconv.FormatInt(ContentHash(doc), 10); got != v.ContentHash {
			t.Errorf("%s: content hash %s, want %s", v.Name, got, v.ContentHash)
		}
		if v.Tokens != nil {
			if got := slices.Collect(Tokens(p, doc)); !slices.Equal(got, *v.Tokens) {
				t.Errorf("%s: tokens\n got %q\nwant %q", v.Name, got, *v.Tokens)
				continue
			}
		}
		var features []string
		for _, f := range v.Features {
			features = append(features, fmt.Sprintf("%v %v", f[0], f[1]))
		}
		kernel.Each(func(kernel string) {
			s, err := NewSketcher(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, way := range []string{"whole", "in pieces"} {
				if way == "whole" || p.Stream == Elements { // a set has no pieces
					s.Document(doc)
				} else if _, err := s.ReadFrom(iotest.HalfReader(iotest.OneByteReader(strings.NewReader(string(doc))))); err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%s, %s, %s", v.Name, kernel, way)
				if got := s.Shingles(); got != v.Shingles {
					t.Errorf("%s: %d shingles, want %d", name, got, v.Shingles)
				}
				stored := s.AppendSketch(nil)
				if got := hex.EncodeToString(stored); got != v.Sketch {
					t.Errorf("%s: sketch\n got %.300s\nwant %.300s", name, got, v.Sketch)
				}
				var got []string
				for _, f := range s.AppendFeatures(nil) {
					got = append(got, fmt.Sprintf("%d %d", f.Slot, f.Value))
				}
				if !slices.Equal(got, features) {
					t.Errorf("%s: features\n got %v\nwant %v", name, got, features)
				}
				if forest, ok := s.Forest(0); ok != (v.Forest != "") || ok && strconv.FormatInt(forest, 10) != v.Forest {
					t.Errorf("%s: forest/0 %d, %v, want %s", name, forest, ok, v.Forest)
				}
				if len(stored) > 0 {
					if err := Check(stored); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		})
		if v.Fingerprints != nil {
			p.Bag = false
			var got []string
			for _, x := range Shingles(p, doc) {
				got = append(got, fmt.Sprintf("%016x", x))
			}
			if !slices.Equal(got, v.Fingerprints) {
				t.Errorf("%s: fingerprints\n got %v\nwant %v", v.Name, got, v.Fingerprints)
			}
		}
	}
}

// Each file of vectors is what the program beside it writes, which shares
// nothing with this package.
func TestReferencesWriteTheVectors(t *testing.T) {
	for _, c := range []struct{ folder, program, vectors string }{
		{"golden", "reference.py", "vectors.json"},
		{"golden", "families.py", "families.tsv"},
		{"golden", "arithmetic.py", "arithmetic.tsv"},
		{"golden", "dates.py", "dates.tsv"},
	} {
		t.Run(c.folder+"/"+c.vectors, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join("testdata", c.folder)
			want, err := os.ReadFile(filepath.Join(folder, c.vectors))
			if err != nil {
				t.Fatal(err)
			}
			var complaint bytes.Buffer
			program := exec.Command("python3", "-B", c.program)
			program.Dir, program.Stderr = folder, &complaint
			got, err := program.Output()
			if err != nil {
				t.Fatalf("%s: %v: %s", c.program, err, complaint.Bytes())
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s writes %d bytes that are not the %d of %s", c.program, len(got), len(want), c.vectors)
			}
		})
	}
}
