package migrations_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
)

// said is what went wrong, without what pgx puts around it.
func said(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Message
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

var anotherBuild = regexp.MustCompile(` tokens=[0-9a-f]{4}`)

// answer is the value of a query, or its error.
func answer[T any](c *pgx.Conn, sql string, args ...any) string {
	var v T
	err := c.QueryRow(context.Background(), sql, args...).Scan(&v)
	return outcome(v, err)
}

func outcome(v any, err error) string {
	if err != nil {
		// The database cannot tell tokens of another build when it sees one sketch.
		return "error: " + anotherBuild.ReplaceAllString(said(err), "")
	}
	return fmt.Sprint(v)
}

// spelled are features as "slot:value".
func spelled(list []sketch.Feature, err error) string {
	var words []string
	for _, f := range list {
		words = append(words, fmt.Sprintf("%d:%d", f.Slot+1, f.Value))
	}
	return outcome(strings.Join(words, " "), err)
}

const listed = "select coalesce(string_agg(slot || ':' || feature, ' ' order by slot), '') from "

// wholeAsGo compares everything that SQL computes from two blobs with package sketch.
func wholeAsGo(t *testing.T, c *pgx.Conn, a, b []byte) {
	t.Helper()
	want := map[string]string{}
	got := map[string]string{}
	want["features"] = spelled(sketch.Features(nil, a))
	got["features"] = answer[string](c, listed+"alike.features($1)", a)
	super, superErr := sketch.Superfeatures(nil, a)
	if len(super) > 1000 {
		super = super[:1000]
		got["superfeatures"] = answer[string](c, listed+"alike._superfeatures($1, 1, 1000)", a)
	} else {
		got["superfeatures"] = answer[string](c, listed+"alike.superfeatures($1)", a)
	}
	want["superfeatures"] = spelled(super, superErr)
	for _, f := range super[:min(len(super), 2)] {
		want["superfeature"] = outcome(f.Value, nil)
		got["superfeature"] = answer[int64](c, "select alike.superfeature($1, $2)", a, f.Slot+1)
	}
	shared, err := sketch.Shared(a, b)
	want["shared"], got["shared"] = outcome(shared, err), answer[int](c, "select alike.shared($1, $2)", a, b)
	alike, err := sketch.Alike(a, b)
	want["alike"], got["alike"] = outcome(alike, err), answer[bool](c, "select alike.alike($1, $2)", a, b)
	var m sketch.Merger
	var union []byte
	if err = m.Add(a); err == nil {
		if err = m.Add(b); err == nil {
			union, err = m.AppendSketch(nil)
		}
	}
	want["merge"], got["merge"] = outcome(union, err), answer[[]byte](c, "select alike.merge(x) from unnest(array[$1::bytea, null, $2]) as x", a, b)
	for name := range want {
		if got[name] != want[name] {
			t.Fatalf("%s of %x… and %x…:\n%.300s in SQL\n%.300s in Go", name, a[:min(len(a), 40)], b[:min(len(b), 40)], got[name], want[name])
		}
	}
}

func TestWholeAsGo(t *testing.T) {
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			c := pgtest.Connect(t, pgtest.Shared(t, version).Database(t))
			for i, profile := range testProfiles {
				lengths := []int{3, 90}
				if version == pgtest.Version() && i%4 == 0 {
					lengths = []int{3, 90, 1000}
				}
				for j, n := range lengths {
					seed := uint64(10*i + j)
					a, b := sketchOf(t, profile, document(seed, 0, n)), sketchOf(t, profile, document(seed, 1, n+3))
					wholeAsGo(t, c, a, b)
					wholeAsGo(t, c, a, a)
				}
			}
			wholeAsGo(t, c, sketchOf(t, "words", document(1, 0, 50)), sketchOf(t, "words w=5", document(1, 0, 50)))
			wholeAsGo(t, c, sketchOf(t, "words", document(1, 0, 50)), sketchOf(t, "words bits=8", document(1, 0, 50)))
			wholeAsGo(t, c, sketchOf(t, "words k=40 s=2 r=20", document(1, 0, 50)), sketchOf(t, "words k=40 s=2 r=20", document(1, 1, 50)))
			for _, nothing := range []string{"alike.feature(null, 1)", "alike.superfeature(null, 1)", "alike.shared(null, $1)", "alike.alike($1, null)", "alike.merge(null::bytea)"} {
				if one[bool](t, c, "select ("+nothing+") is null from (select $1::bytea as unused) as u", []byte{1}) != true {
					t.Errorf("%s is not NULL", nothing)
				}
			}
			text := sketchOf(t, "words", document(1, 0, 50))
			fails(t, c, "slot 24, want 1 to 23", "select alike.feature($1, 24)", text)
			fails(t, c, "slot 0, want 1 to 23", "select alike.feature($1, 0)", text)
			fails(t, c, "slot 254, want 1 to 253", "select alike.superfeature($1, 254)", text)
			fails(t, c, "slot 0, want 1 to 253", "select alike.superfeature($1, 0)", text)
		})
	}
}

// Blobs with bytes changed, cut short and made longer give what Go gives: the same
// value or the same sentence.
func TestHostileBlobsAsGo(t *testing.T) {
	c := pgtest.Connect(t, pgtest.Database(t))
	r := rand.New(rand.NewPCG(15, 3))
	for _, profile := range []string{"words t=14 k=2 s=7", "words bins t=14 k=2 s=7", "words bits=8 t=14 k=2 s=7", "words bottom=5", "words mod=4 t=14 k=2 s=7 r=1", "words scaled t=14 k=2 s=7", "words weighted t=14 k=2 s=7"} {
		good := sketchOf(t, profile, document(1, 0, 60))
		for range 60 {
			bad := bytes.Clone(good)
			switch r.IntN(6) {
			case 0:
				bad = bad[:r.IntN(len(bad))]
			case 1:
				bad = append(bad, byte(r.Uint32()), byte(r.Uint32()))
			case 2: // slots or values that no sketch has
				for i := 22; i < len(bad); i++ {
					bad[i] = 0xff
				}
			case 3: // two values change places
				if n := (len(bad) - 22) / 8; n > 1 {
					i, j := 22+8*r.IntN(n), 22+8*r.IntN(n)
					x, y := binary.BigEndian.Uint64(bad[i:]), binary.BigEndian.Uint64(bad[j:])
					binary.BigEndian.PutUint64(bad[i:], y)
					binary.BigEndian.PutUint64(bad[j:], x)
				}
			case 4:
				bad[r.IntN(22)] = byte(r.Uint32())
			default:
				bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			}
			if len(bad) > 12 && (bad[8] > 1 || bad[10] > 6) { // k·s that take their time
				continue
			}
			wholeAsGo(t, c, bad, good)
			wholeAsGo(t, c, good, bad)
		}
	}
}

// setProfiles is every family, at bits and settings that a set can have.
var setProfiles = []string{"", "classic", "fast", "bins", "weighted", "lean", "lean-zeros", "lean-biased", "bottom=20", "bottom=7 mod=3", "mod=4", "scaled",
	"bag", "classic bag", "bits=8", "bins bits=4", "lean bits=2", "bits=1 t=95", "t=200 k=10 s=4", "lean-biased t=300", "lean t=96", "mod=3 bag"}

func TestSetsAsGo(t *testing.T) {
	ctx := context.Background()
	for _, version := range pgtest.Releases() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			c := pgtest.Connect(t, pgtest.Shared(t, version).Database(t))
			r := rand.New(rand.NewPCG(uint64(version), 1))
			for i, settings := range setProfiles {
				sizes := []int{1, 40}
				if version == pgtest.Version() && i%4 == 0 {
					sizes = []int{1, 7, 40, 300}
				}
				if strings.Contains(settings, "lean") {
					sizes = sizes[:2]
				}
				for _, n := range sizes {
					p, err := sketch.ParseProfile(settings)
					if err != nil {
						t.Fatal(err)
					}
					p.Stream, p.W, p.ReverseFolding = sketch.Elements, 1, false
					s, err := sketch.NewSketcher(p)
					if err != nil {
						t.Fatal(err)
					}
					elements, weights := randomSet(r, n, p.Family == sketch.Weighted)
					plain := settings == ""
					for i, element := range elements {
						if plain {
							s.AddElement(element)
						} else if err := s.AddWeighted(element, weights[i]); err != nil {
							t.Fatal(err)
						}
					}
					var want []byte
					if !s.Empty() {
						want = s.AppendSketch(nil)
					}
					var got []byte
					if plain {
						err = c.QueryRow(ctx, "select alike.sketch_set(e) from unnest($1::bytea[]) as e", elements).Scan(&got)
					} else {
						err = c.QueryRow(ctx, "select alike.sketch_set(e, w, $3) from unnest($1::bytea[], $2::float8[]) as u(e, w)", elements, weights, settings).Scan(&got)
					}
					if err != nil {
						t.Fatalf("%q, %d elements: %v", settings, n, err)
					}
					if !bytes.Equal(got, want) {
						t.Errorf("%d %q, %d elements:\n%.60x… in SQL\n%.60x… in Go", i, settings, n, got, want)
					}
				}
			}
		})
	}
}

// randomSet is n elements with weights, of which a quarter repeats an earlier element; the
// weights are fractions, or whole numbers below 4.
func randomSet(r *rand.Rand, n int, fractions bool) (elements [][]byte, weights []float64) {
	for range n {
		element := make([]byte, r.IntN(40))
		for i := range element {
			element[i] = byte(r.Uint32())
		}
		if len(elements) > 0 && r.IntN(4) == 0 {
			element = elements[r.IntN(len(elements))]
		}
		weight := float64(r.IntN(4))
		if fractions {
			weight = math.Exp(r.NormFloat64() * 3)
		}
		elements, weights = append(elements, element), append(weights, weight)
	}
	return elements, weights
}

func TestSketchSet(t *testing.T) {
	c := pgtest.Connect(t, pgtest.Database(t))
	t.Run("numbers, text and bytes are one set", func(t *testing.T) {
		s, err := sketch.NewSketcher(elementsProfile(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []string{"1", "22", "333"} {
			s.AddElement([]byte(e))
		}
		want := s.AppendSketch(nil)
		for _, equal := range []string{
			"select alike.sketch_set(x) from unnest(array[1, 22, 333]) as x", "select alike.sketch_set(x::bigint) from unnest(array[1, 22, 333]) as x",
			"select alike.sketch_set(x::text) from unnest(array[1, 22, 333]) as x", "select alike.sketch_set(x, 1) from unnest(array[333, 22, 1, null]) as x",
			"select alike.sketch_set(x, 1, 'prose') from unnest(array['22', '1', '333']) as x", "select alike.sketch_set(x) from unnest(array['22', '1', '333']::bytea[]) as x",
		} {
			if got := one[[]byte](t, c, equal); !bytes.Equal(got, want) {
				t.Errorf("%s:\n%x, want\n%x", equal, got, want)
			}
		}
	})
	t.Run("an empty set has no sketch", func(t *testing.T) {
		if got := one[*[]byte](t, c, "select alike.sketch_set(x, 0, 'mod=3') from unnest(array['a', null]) as x"); got != nil {
			t.Errorf("a set whose weights are 0 is %x, want NULL", *got)
		}
		if got := one[*[]byte](t, c, "select alike.sketch_set(null::text)"); got != nil {
			t.Errorf("the empty set is %x, want NULL", *got)
		}
	})
	t.Run("what it refuses", func(t *testing.T) {
		for _, bad := range [][2]string{
			{"select alike.sketch_set('a'::text, -1)", "sketch: weight -1, want a finite number of at least 0"},
			{"select alike.sketch_set('a'::text, 'NaN')", "sketch: weight NaN, want a finite number of at least 0"},
			{"select alike.sketch_set('a'::text, 0.5)", "sketch: weight 0.5 under the family fast, want a whole number; the family weighted takes fractions"},
			{"select alike.sketch_set('a'::text, 1000001, 'bins')", "sketch: weight 1000001 under the family bins, want at most 1000000; the family weighted takes more"},
			{"select alike.sketch_set('a'::text, 1, p) from unnest(array['fast', 'bins']) as p", `one set has two profiles, "fast" and "bins"`},
			{"select alike.sketch_set('a'::text, 1e308, 'weighted') from generate_series(1, 2)", "sketch: the weights of an element add up to more than 1.7976931348623157e+308"},
			{"select alike.sketch_set('a'::text, 1, 'w=0')", `sketch: profile "w=0": w=0, want 1 to 1024`},
		} {
			fails(t, c, bad[1], bad[0])
		}
	})
}

func elementsProfile(t *testing.T) sketch.Profile {
	p, err := sketch.ParseProfile("")
	if err != nil {
		t.Fatal(err)
	}
	p.Stream, p.W, p.ReverseFolding = sketch.Elements, 1, false
	return p
}
