package migrations_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/simindex"
)

// testProfiles has every family and every number of bits.
var testProfiles = []string{
	"prose", "words bits=8", "words bits=4", "words bits=2", "words bits=1", "words t=95 bits=2", "web bits=8", "bing", "bing bits=8", "chars bag", "code",
	"lines case", "words fast bits=8", "words lean bits=8", "words bins", "words bins bits=8", "words bins t=93 bits=4", "words weighted", "words lean-zeros", "words lean-biased bits=8",
	"words bottom=100", "words bottom=50 mod=3", "words mod=4", "words mod=16909060", "words scaled", "words stop vowels duplicates w=3", "chars numbers dates", "words dates bits=4",
}

// document makes text of n words; documents of the same seed share most of it.
func document(seed, variation uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	v := rand.New(rand.NewPCG(seed, variation))
	var b strings.Builder
	for range n {
		word := r.IntN(5000)
		if variation > 0 && v.IntN(40) == 0 {
			word = v.IntN(5000)
		}
		fmt.Fprintf(&b, "w%d ", word)
	}
	return []byte(b.String())
}

func sketchOf(t testing.TB, profile string, doc []byte) []byte {
	t.Helper()
	p, err := sketch.ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		t.Fatal(err)
	}
	s.Document(doc)
	return s.AppendSketch(nil)
}

func one[T any](t testing.TB, c *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := c.QueryRow(context.Background(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func fails(t testing.TB, c *pgx.Conn, want, sql string, args ...any) {
	t.Helper()
	_, err := c.Exec(context.Background(), sql, args...)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want one with %q", sql, err, want)
	}
}

func same(t testing.TB, what string, got, want float64) {
	t.Helper()
	if math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("%s: %v in SQL, %v in Go", what, got, want)
	}
}

// Every function gives what package sketch gives, to the last bit.
func TestSameBitsAsGo(t *testing.T) {
	for _, version := range pgtest.Extremes() {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			c := pgtest.Connect(t, pgtest.Shared(t, version).Database(t))
			for _, profile := range testProfiles {
				lengths := []int{3, 90, 30, 400, 1000, 90}
				if version != pgtest.Version() {
					lengths = lengths[:2] // the arithmetic is the same
				}
				for i, n := range lengths {
					i := uint64(i)
					a, b := sketchOf(t, profile, document(i, 0, n)), sketchOf(t, profile, document(i, 1, n+int(i)*7))
					compareSketches(t, c, profile, a, b)
				}
			}
		})
	}
}

func compareSketches(t *testing.T, c *pgx.Conn, profile string, a, b []byte) {
	t.Helper()
	p, err := sketch.ProfileOf(a)
	if err != nil {
		t.Fatal(err)
	}
	if got := one[string](t, c, "select alike.profile($1)", a); got != p.String() {
		t.Errorf("%s: profile %q in SQL, %q in Go", profile, got, p)
	}
	compare := func(a, b []byte) {
		t.Helper()
		counted, err := sketch.Compare(a, b)
		if err != nil {
			t.Fatal(err)
		}
		for _, confidence := range []float64{0.95, 0.5} {
			want, err := sketch.Bounds(a, b, confidence)
			if err != nil {
				t.Fatal(err)
			}
			got := one[map[string]*float64](t, c, "select alike.bounds($1, $2, $3)", a, b, confidence)
			same(t, profile+": low", *got["low"], want.Low)
			if counted.Trials > 0 {
				same(t, profile+": estimate", *got["estimate"], want.Estimate)
			} else if got["estimate"] != nil {
				t.Errorf("%s: nothing was sampled, the estimate is %v, want NULL", profile, *got["estimate"])
			}
			same(t, profile+": high", *got["high"], want.High)
		}
		if got := one[*float64](t, c, "select alike.resemblance($1, $2)", a, b); counted.Trials > 0 {
			same(t, profile+": resemblance", *got, counted.Resemblance)
		} else if got != nil {
			t.Errorf("%s: nothing was sampled, the resemblance is %v, want NULL", profile, *got)
		}
	}
	compare(a, b)
	compare(a, a)
	if p.Slots() {
		cut, err := sketch.Cut(nil, b, 1)
		if err != nil {
			t.Fatal(err)
		}
		compare(a, cut)
		compare(cut, a)
	}
	if p.Family == sketch.Mod || p.Family == sketch.Scaled {
		want, ok, err := sketch.Containment(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if got := one[*float64](t, c, "select alike.containment($1, $2)", a, b); ok {
			same(t, profile+": containment", *got, want)
		} else if got != nil {
			t.Errorf("%s: nothing was sampled, the containment is %v, want NULL", profile, *got)
		}
	} else {
		fails(t, c, "containment needs the family mod or scaled", "select alike.containment($1, $2)", a, b)
	}
	if p.Slots() && p.Bits == 64 {
		features, err := sketch.Features(nil, a)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]*int64, p.K)
		for i, f := range features {
			want[f.Slot] = &features[i].Value
		}
		if got := one[[]*int64](t, c, "select alike._features($1)", a); fmt.Sprint(values(got)) != fmt.Sprint(values(want)) {
			t.Errorf("%s: features %v in SQL, %v in Go", profile, values(got), values(want))
		}
	}
}

func values(list []*int64) []string {
	var out []string
	for _, v := range list {
		if v == nil {
			out = append(out, "none")
		} else {
			out = append(out, fmt.Sprint(*v))
		}
	}
	return out
}

func TestFilterAsGo(t *testing.T) {
	ctx := context.Background()
	c := pgtest.Connect(t, pgtest.Database(t))
	for _, f := range [][3]int{{12, 7, 2}, {6, 14, 2}, {6, 5, 4}, {1, 1, 1}, {20, 255, 3}, {255, 2, 255}} {
		k, s, r := f[0], f[1], f[2]
		for _, rho := range []float64{0, 0.001, 0.3, 0.5, 0.77, 0.9, 0.99, 1} {
			same(t, fmt.Sprint("filter ", f, rho), one[float64](t, c, "select alike.filter($1, $2, $3, $4)", k, s, r, rho), sketch.FilterProbability(k, s, r, rho))
		}
		same(t, fmt.Sprint("half point ", f), one[float64](t, c, "select alike.half_point($1, $2, $3)", k, s, r), sketch.HalfPoint(k, s, r))
		rows, err := c.Query(ctx, "select resemblance, probability from alike.filter_curve($1, $2, $3)", k, s, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sketch.FilterPoint])
		if err != nil {
			t.Fatal(err)
		}
		if want := sketch.FilterCurve(k, s, r, 101); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("curve %v:\n%v\n%v", f, got, want)
		}
	}
	fails(t, c, "7 shared features, want 1 to 6", "select alike.filter(6, 14, 7, 0.5)")
	for _, rho := range []string{"-0.1", "1.1", "'NaN'"} {
		fails(t, c, "want a number from 0 to 1", "select alike.filter(6, 14, 2, "+rho+")")
	}
	for _, p := range [][4]float64{{0.9, 0.01, 0.5, 0.001}, {0.8, 0.3, 0.7, 0.2}, {1, 0.5, 0.99, 0.9}} {
		want, err := sketch.FilterPlan(p[0], p[1], p[2], p[3])
		if err != nil {
			t.Fatal(err)
		}
		rows, err := c.Query(ctx, "select k, s, r, bytes, miss, accept from alike.filter_plan($1, $2, $3, $4)", p[0], p[1], p[2], p[3])
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		var k, s, r, bytes int
		var miss, accept float64
		if _, err := pgx.ForEachRow(rows, []any{&k, &s, &r, &bytes, &miss, &accept}, func() error {
			if i < len(want) {
				w := want[i]
				if k != w.K || s != w.S || r != w.R || bytes != w.Bytes || miss != w.Miss || accept != w.Accept {
					t.Errorf("plan %v, row %d: %v, want %+v", p, i, []any{k, s, r, bytes, miss, accept}, w)
				}
			}
			i++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if i != len(want) {
			t.Errorf("plan %v: %d rows, want %d", p, i, len(want))
		}
	}
	fails(t, c, "resemblance 2, want above 0 and at most 1", "select alike.filter_plan(2, 0.1, 0.5, 0.1)")
}

func TestProfilesAsGo(t *testing.T) {
	c := pgtest.Connect(t, pgtest.Database(t))
	for i, preset := range sketch.Presets() {
		p, err := sketch.ParseProfile(preset.Name)
		if err != nil {
			t.Fatal(err)
		}
		recall, err := sketch.ThresholdRecall(p.K, p.S, preset.AtLeast)
		if err != nil {
			t.Fatal(err)
		}
		if got := one[string](t, c, "select name || ': ' || settings || ': ' || purpose || ': ' || at_least || ': ' || recall from alike.profiles() offset $1 limit 1", i); got != fmt.Sprintf("%s: %s: %s: %v: %v", preset.Name, preset.Settings, preset.For, preset.AtLeast, recall) {
			t.Errorf("preset %q, want %+v", got, preset)
		}
	}
	for _, settings := range append([]string{
		"", "  SHORT  W=6 bag ", "prose\tk=9", "W=3", "words", "html case", "lines fold", "code", "k=6", "bottom=5", "mod=3 bottom=5", "bottom=5 mod=3", "bottom=5 fast", "t=10",
		"soundex stop", "words k=64 s=64", "w=0", "w=1025", "w=", "w=x", "nonsense", "bits=3", "scaled bits=8", "mod=0", "bottom=70000", "k=65", "r=13", "r=24",
		"w=99999999999", "prose prose", "elements", "words bag weighted",
	}, testProfiles...) {
		want := ""
		p, err := sketch.ParseProfile(settings)
		if err == nil {
			want = p.String()
		}
		var got string
		sqlErr := c.QueryRow(context.Background(), "select alike._spell(alike._parse($1))", settings).Scan(&got)
		if (sqlErr != nil) != (err != nil) || got != want {
			t.Errorf("%q: %q, error %v in SQL; %q, error %v in Go", settings, got, sqlErr, want, err)
		}
		preset, follows := sketch.PresetOf(settings)
		if got := one[string](t, c, "select concat_ws(' ', preset, background, follows) from alike._preset_of($1)", settings); got != fmt.Sprint(preset.Name, " ", preset.Background, " ", map[bool]string{true: "t", false: "f"}[follows]) {
			t.Errorf("%q builds on %s, want %s, %t", settings, got, preset.Name, follows)
		}
	}
}

func TestThresholdsAsGo(t *testing.T) {
	c := pgtest.Connect(t, pgtest.Database(t))
	for _, f := range [][2]int{{1, 1}, {2, 12}, {12, 7}, {23, 4}, {34, 4}, {24, 3}, {64, 2}, {6, 14}, {1, 255}} {
		same(t, fmt.Sprint("threshold of ", f), one[float64](t, c, "select alike._filter_threshold($1, $2)", f[0], f[1]), sketch.FilterThreshold(f[0], f[1]))
		for _, atLeast := range []float64{0.001, 0.45, 0.5, 0.77, 0.999, 1} {
			want, err := sketch.ThresholdRecall(f[0], f[1], atLeast)
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprint("recall of ", f, " at ", atLeast), one[float64](t, c, "select alike._threshold_recall($1, $2, $3)", f[0], f[1], atLeast), want)
		}
	}
	for _, background := range []float64{sketch.Unrelated, sketch.Templated, 0} {
		for _, recall := range []float64{0.5, 0.9, 0.95, 0.99, 0.9999} {
			for percent := 1; percent <= 100; percent += 3 {
				atLeast := float64(percent) / 100
				want, err := sketch.ThresholdFilter(atLeast, recall, background)
				if err != nil {
					t.Fatal(err)
				}
				if got := one[string](t, c, "select k || ' ' || s from alike._threshold_filter($1, $2, $3)", atLeast, recall, background); got != fmt.Sprint(want.K, " ", want.S) {
					t.Errorf("%v of the pairs at %v over %v: %s, want %d %d", recall, atLeast, background, got, want.K, want.S)
				}
			}
		}
	}
	for _, atLeast := range []string{"0", "1.01", "'NaN'"} {
		fails(t, c, "want above 0 and at most 1", "select alike._threshold_recall(3, 4, "+atLeast+")")
		fails(t, c, "want above 0 and at most 1", "select alike._threshold_filter("+atLeast+", 0.95, 0.1)")
	}
	fails(t, c, "want between 0 and 1", "select alike._threshold_filter(0.5, 1, 0.1)")
}

// A look chooses the same of the same texts, and says the same, in SQL.
func TestLookAsGo(t *testing.T) {
	c := pgtest.Connect(t, pgtest.Database(t))
	// What the texts are made of, each about as often as the others: what the rule looks
	// for, the edges of its ranges, and what is beside them.
	pieces := []string{" ", "\n", "\t", "\r\n", "\f", "\v", "\u0085", "\u00a0", "<", "</", "</p>", "<P>", "<br/", "<h6 ", "<h7>", "<\u212aul>", "<!DocType HTML>", "<x>", "{", "[", `":`, `{"a": `, "12:30", "1:30", "12:3", "\n#define", "\n#if", "#endif", "\n #if", "\n#else", "١٢:٣٠", ";", "}", "):", "a", "the word ", "Z",
		"\u0dff", "\u0e00", "\u0eff", "\u0f00", "\u0fff", "\u1000", "\u11ff", "\u1200", "\u177f", "\u1780", "\u17ff", "\u1800", "\u303f", "\u3040", "\u318f", "\u3190", "\u31ef", "\u31f0", "\u31ff", "\u3200",
		"\u33ff", "\u3400", "\u4dbf", "\u4dc0", "\u4dff", "\u4e00", "\u9fff", "\ua000", "\uabff", "\uac00", "\ud7af", "\ud7b0", "\uf8ff", "\uf900", "\ufaff", "\ufb00", "\U0001ffff", "\U00020000", "\U0003ffff", "\U00040000", "\U0010ffff",
		"\u058f", "\u0590", "\ufb1c", "\ufb1d", "\u05ff", "\u0600", "\u06ff", "\u0700", "\u074f", "\u0750", "\u077f", "\u0780", "\u086f", "\u0870", "\u08ff", "\u0900", "\ufb4f", "\ufb50", "\ufdff", "\ufe00", "\ufe6f", "\ufe70", "\ufefe", "\ufeff", "é", "日本", "المحور ", "\x01", "\x1f", "\x7f"}
	random := rand.New(rand.NewPCG(14, 8))
	text := func(kind int) string {
		var b strings.Builder
		b.WriteString([]string{"", " <", "{", "\n[", "x", "内", "م"}[kind%7])
		for range []int{0, 1, 3, 12, 60, 300, 1200, 5000}[random.IntN(8)] {
			if kind == 13 { // sequences
				b.WriteString([]string{"acgtacgtnnacgu", "0123456789", "GATTACA", "cgta", "ttagg", "u", "314159", "\n", "ACGT", "z"}[random.IntN(10)])
			} else if kind == 14 { // words of very many characters
				b.WriteString([]string{"QmFzZTY0VVRGOA", "acgtacgtnnacgu", "0123456789", "/+=", "漢字", "acgtacgtacgt", "QmFz\x02", " "}[random.IntN(6+random.IntN(3))])
			} else if kind < 4 && random.IntN(3) > 0 {
				b.WriteString([]string{"word ", "日", "12:30 ", "x;\n", "</b>", `": `, "م", "ab"}[kind*2+random.IntN(2)])
			} else {
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
		}
		return b.String()
	}
	chosen := map[string]int{}
	for range 4500 {
		kind := random.IntN(15)
		texts := make([]string, random.IntN(7))
		for i := range texts {
			if random.IntN(4) == 0 {
				kind = random.IntN(15)
			}
			texts[i] = text(kind)
		}
		preset, reason, looked := sketch.LookThrough(func(yield func([]byte) bool) {
			for _, text := range texts {
				if !yield([]byte(text)) {
					return
				}
			}
		})
		chosen[preset]++
		var got struct {
			Preset, Reason string
			Looked         int
		}
		if err := c.QueryRow(context.Background(), "select * from alike._look($1)", texts).Scan(&got.Preset, &got.Reason, &got.Looked); err != nil {
			t.Fatal(err)
		}
		if got.Preset != preset || got.Reason != reason || got.Looked != looked {
			t.Fatalf("%.500q:\n%+v in SQL\n%s: %s (%d) in Go", texts, got, preset, reason, looked)
		}
	}
	for _, preset := range []string{"prose", "paragraphs", "short", "names", "unsegmented", "sequences", "pages", "code", "logs", "records"} {
		if chosen[preset] < 20 {
			t.Errorf("%s was chosen %d times, want 20 for a test: %v", preset, chosen[preset], chosen)
		}
	}
}

func TestSIRangeAsGo(t *testing.T) {
	c := pgtest.Connect(t, pgtest.Database(t))
	for _, si := range []int64{0, 1, 7, -1, 2884449050, -2401276100, math.MaxInt64, math.MinInt64} {
		for _, fraction := range []float64{0.3, 0.1, 0, 1.5, 1e308, math.Inf(1)} {
			if got, want := one[int64](t, c, "select alike.si_low($1, $2)", si, fraction), simindex.Low(si, fraction); got != want {
				t.Errorf("si_low(%d, %v): %d in SQL, %d in Go", si, fraction, got, want)
			}
			if got, want := one[int64](t, c, "select alike.si_high($1, $2)", si, fraction), simindex.High(si, fraction); got != want {
				t.Errorf("si_high(%d, %v): %d in SQL, %d in Go", si, fraction, got, want)
			}
		}
		if got, want := one[int64](t, c, "select alike.si_low($1)", si), simindex.Low(si, simindex.Fraction); got != want {
			t.Errorf("si_low(%d): %d in SQL, %d in Go", si, got, want)
		}
	}
	for _, fraction := range []string{"-0.1", "'NaN'"} {
		fails(t, c, "want a number of at least 0", "select alike.si_low(5, "+fraction+")")
	}
}

func TestBadSketches(t *testing.T) {
	c := pgtest.Connect(t, pgtest.Database(t))
	good := sketchOf(t, "words k=12 s=7 t=84 bits=8", document(1, 0, 50))
	for _, v := range []struct {
		name string
		blob []byte
		want string
	}{
		{"empty", []byte{}, "0 bytes, want at least 22"},
		{"short", good[:12], "12 bytes, want at least 22"},
		{"foreign", append([]byte("PNG"), good[3:]...), "not a sketch"},
		{"cut", good[:100], "78 bytes after the header, want 84"},
		{"long", append(append([]byte{}, good...), 1), "85 bytes after the header, want 84"},
		{"version", append([]byte{0xa1, 2}, good[2:]...), "version 2, this build reads 1"},
	} {
		fails(t, c, v.want, "select alike.profile($1)", v.blob)
		fails(t, c, v.want, "select alike.resemblance($1, $2)", v.blob, good)
		fails(t, c, v.want, "select alike.resemblance($1, $2)", good, v.blob)
		fails(t, c, v.want, "select alike.resemblance($1, $1)", v.blob)
		fails(t, c, v.want, "select alike.bounds($1, $2)", v.blob, good)
	}
	fails(t, c, "different profiles", "select alike.resemblance($1, $2)", good, sketchOf(t, "words k=12 s=7 t=84 w=5 bits=8", document(1, 0, 50)))
	if one[*float64](t, c, "select alike.resemblance($1, null)", good) != nil {
		t.Error("resemblance with NULL is not NULL")
	}
	r := rand.New(rand.NewPCG(1, 2))
	// Of lists too: of one, of both in the same place, and of lists at two exponents.
	for _, lists := range [][2][]byte{
		{sketchOf(t, "words mod=4", document(1, 0, 90)), sketchOf(t, "words mod=4", document(1, 1, 120))}, {sketchOf(t, "words mod=4", document(1, 0, 5)), sketchOf(t, "words mod=4", document(1, 1, 120))},
		{sketchOf(t, "words scaled", document(1, 0, 90)), sketchOf(t, "words scaled", document(1, 1, 900))}, {sketchOf(t, "words scaled", document(1, 1, 900)), sketchOf(t, "words scaled", document(1, 2, 900))},
	} {
		for i := range 600 {
			bad, other := append([]byte{}, lists[0]...), append([]byte{}, lists[1]...)
			place, bit := r.IntN(len(bad)), byte(1)<<r.IntN(8)
			bad[place] ^= bit
			if place > 22 && i%3 == 0 {
				other[place%len(other)] ^= bit
			}
			for _, pair := range [][2][]byte{{bad, other}, {other, bad}, {bad, bad}} {
				if place < 22 && &pair[0][0] == &pair[1][0] {
					continue // two headers that are wrong in the same way
				}
				want, ok, err := sketch.Containment(pair[0], pair[1])
				var got *float64
				sqlErr := c.QueryRow(context.Background(), "select alike.containment($1, $2)", pair[0], pair[1]).Scan(&got)
				if (err != nil) != (sqlErr != nil) || (got != nil) != ok || ok && *got != want || err != nil && place >= 22 && !strings.Contains(sqlErr.Error(), strings.TrimPrefix(err.Error(), "sketch: ")) {
					t.Fatalf("%x and %x: %v, error %v in SQL; %v, error %v in Go", pair[0], pair[1], got, sqlErr, want, err)
				}
			}
		}
	}
	// A flipped bit gives an error or an answer between 0 and 1, as in Go.
	for range 3000 {
		bad := append([]byte{}, good...)
		bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		want, err := sketch.Resemblance(bad, good)
		var got float64
		sqlErr := c.QueryRow(context.Background(), "select alike.resemblance($1, $2)", bad, good).Scan(&got)
		if (err != nil) != (sqlErr != nil) || got != want {
			t.Fatalf("%x: %v, error %v in SQL; %v, error %v in Go", bad[:22], got, sqlErr, want, err)
		}
	}
}
