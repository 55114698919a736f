package sketch_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/alike-sql/alike/sketch"
)

const (
	address = "Four score and seven years ago our fathers brought forth on this continent, a new nation, " +
		"conceived in Liberty, and dedicated to the proposition that all men are created equal."
	edited = "Fourscore and seven years ago our fathers brought forth, on this continent, a new nation, " +
		"conceived in liberty and dedicated to the idea that all men are created equal!"
)

// From two texts to how much they have in common.
func Example() {
	profile, err := sketch.ParseProfile("prose")
	if err != nil {
		fmt.Println(err)
		return
	}
	sketcher, err := sketch.NewSketcher(profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	sketcher.Document([]byte(address))
	a := sketcher.AppendSketch(nil)
	sketcher.Document([]byte(edited))
	b := sketcher.AppendSketch(nil)

	estimate, err := sketch.Resemblance(a, b)
	if err != nil {
		fmt.Println(err)
		return
	}
	exact, _, _ := sketch.ExactResemblance(profile, []byte(address), []byte(edited))
	interval, _ := sketch.Bounds(a, b, 0.95)
	shared, _ := sketch.Shared(a, b)
	fmt.Println(profile)
	fmt.Printf("estimate %.3f, from %.3f to %.3f at 95 %%; exactly %.3f\n", estimate, interval.Low, interval.High, exact)
	fmt.Printf("%d of %d features in common\n", shared, profile.K)
	// Output:
	// words w=2 set fast t=168 k=23 s=4 r=2
	// estimate 0.762, from 0.690 to 0.824 at 95 %; exactly 0.781
	// 11 of 23 features in common
}

// The examples of Broder 1997, section 2: 42.857 % as sets, 30 % as bags.
func ExampleExactResemblance() {
	a, b := []byte("a rose is a rose is a rose"), []byte("a rose is a flower which is a rose")
	for _, settings := range []string{"words w=3 set", "words w=3 bag"} {
		profile, err := sketch.ParseProfile(settings)
		if err != nil {
			fmt.Println(err)
			return
		}
		r, _, err := sketch.ExactResemblance(profile, a, b)
		fmt.Printf("%s: %.3f %% %v\n", settings, 100*r, err)
	}
	// Output:
	// words w=3 set: 42.857 % <nil>
	// words w=3 bag: 30.000 % <nil>
}

func ExampleShingles() {
	profile, err := sketch.ParseProfile("words w=4")
	if err != nil {
		fmt.Println(err)
		return
	}
	for text, fingerprint := range sketch.Shingles(profile, []byte("A rose is a rose is a rose.")) {
		fmt.Printf("%016x %s\n", fingerprint, text)
	}
	// Output:
	// 63fabc58bd048e71 a rose is a
	// 8dbd6538ae4240b7 rose is a rose
	// 63558f001ee47277 is a rose is
	// 63fabc58bd048e71 a rose is a
	// 8dbd6538ae4240b7 rose is a rose
}

// Pages are reduced to their words and the URLs of their links and images.
func ExampleTokens() {
	profile, err := sketch.ParseProfile("web")
	if err != nil {
		fmt.Println(err)
		return
	}
	page := `<title>Roses</title><script>track()</script>
		<p>A <b>rose</b> is <a href="/Rose?a=1&amp;b=2">a r&ocirc;se</a><img src="rose.png" alt="a rose">`
	for token := range sketch.Tokens(profile, []byte(page)) {
		fmt.Println(token)
	}
	// Output:
	// roses
	// a
	// rose
	// is
	// /rose?a=1&b=2
	// a
	// rôse
	// rose.png
}

func ExampleExplain() {
	profile, err := sketch.ParseProfile("words w=3")
	if err != nil {
		fmt.Println(err)
		return
	}
	passages, err := sketch.Explain(profile, []byte("We hold these truths to be self-evident."), []byte("Yes, we hold these truths to be sacred."))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range passages {
		fmt.Printf("%-5s %2d %2d  %s\n", p.Kind, p.Left, p.Right, p.Text)
	}
	// Output:
	// both   0  1  we hold these truths to be
	// left   4 -1  to be self evident
	// right -1  0  yes we hold
	// right -1  5  to be sacred
}

// A document of any length, in constant memory.
func ExampleSketcher_ReadFrom() {
	profile, err := sketch.ParseProfile("prose bits=4")
	if err != nil {
		fmt.Println(err)
		return
	}
	sketcher, err := sketch.NewSketcher(profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := sketcher.ReadFrom(strings.NewReader(strings.Repeat(address+"\n", 1000)))
	fmt.Println(n, err, sketcher.Shingles(), len(sketcher.AppendSketch(nil)))
	// Output:
	// 177000 <nil> 29999 106
}

// Features are what an index holds: rows that share one are worth comparing.
func ExampleSketcher_AppendFeatures() {
	profile, err := sketch.ParseProfile("bing")
	if err != nil {
		fmt.Println(err)
		return
	}
	sketcher, err := sketch.NewSketcher(profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := make(map[sketch.Feature][]string)
	var features []sketch.Feature
	for _, row := range [][2]string{{"address", address}, {"edited", edited}, {"rose", "a rose is a rose is a rose"}} {
		sketcher.Document([]byte(row[1]))
		features = sketcher.AppendFeatures(features[:0])
		for _, f := range features {
			rows[f] = append(rows[f], row[0])
		}
	}
	shared := 0
	for _, names := range rows {
		if len(names) > 1 {
			shared++
		}
	}
	fmt.Println(len(features), "features a document,", shared, "shared by the address and its edition")
	// Output:
	// 6 features a document, 1 shared by the address and its edition
}

// The sketch of a union is made from the sketches of its parts.
func ExampleMerger() {
	profile, err := sketch.ParseProfile("elements bottom=100")
	if err != nil {
		fmt.Println(err)
		return
	}
	sketcher, err := sketch.NewSketcher(profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	set := func(elements ...string) []byte {
		sketcher.Reset()
		for _, e := range elements {
			sketcher.AddElement([]byte(e))
		}
		return sketcher.AppendSketch(nil)
	}
	var merger sketch.Merger
	for _, part := range [][]byte{set("red", "green"), set("green", "blue")} {
		if err := merger.Add(part); err != nil {
			fmt.Println(err)
			return
		}
	}
	union, err := merger.AppendSketch(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := sketch.Resemblance(union, set("red", "green", "blue", "white"))
	fmt.Println(r, err)
	// Output:
	// 0.75 <nil>
}

// Containment finds a quotation in a longer document.
func ExampleContainment() {
	profile, err := sketch.ParseProfile("words w=2 mod=1")
	if err != nil {
		fmt.Println(err)
		return
	}
	sketcher, err := sketch.NewSketcher(profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	sketcher.Document([]byte("all men are created equal"))
	part := sketcher.AppendSketch(nil)
	sketcher.Document([]byte(address))
	whole := sketcher.AppendSketch(nil)
	in, _, err := sketch.Containment(part, whole)
	fmt.Println(in, err)
	around, _, err := sketch.Containment(whole, part)
	fmt.Printf("%.2f %v\n", around, err)
	// Output:
	// 1 <nil>
	// 0.14 <nil>
}

// Sketches of different settings are not compared.
func ExampleErrProfile() {
	var stored [2][]byte
	for i, settings := range []string{"prose", "short"} {
		profile, err := sketch.ParseProfile(settings)
		if err != nil {
			fmt.Println(err)
			return
		}
		sketcher, err := sketch.NewSketcher(profile)
		if err != nil {
			fmt.Println(err)
			return
		}
		sketcher.Document([]byte(address))
		stored[i] = sketcher.AppendSketch(nil)
	}
	_, err := sketch.Resemblance(stored[0], stored[1])
	fmt.Println(err)
	// Output:
	// sketches of different profiles: "words w=2 set fast t=168 k=23 s=4 r=2" and "chars w=3 set fast t=168 k=23 s=4 r=2"
}

// The filter of AltaVista: what it finds and what it lets through.
func ExampleFilterProbability() {
	for _, resemblance := range []float64{0.5, 0.77, 0.9, 0.975, 0.99} {
		fmt.Printf("%.3f  %.2g\n", resemblance, sketch.FilterProbability(6, 14, 2, resemblance))
	}
	fmt.Printf("half at %.4f\n", sketch.HalfPoint(6, 14, 2))
	// Output:
	// 0.500  5.6e-08
	// 0.770  0.0093
	// 0.900  0.42
	// 0.975  0.99
	// 0.990  1
	// half at 0.9094
}

// Find 99 % of the pairs at 0.9, and let through 5 % of those at 0.5.
func ExampleFilterPlan() {
	plan, err := sketch.FilterPlan(0.9, 0.01, 0.5, 0.05)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range plan[:3] {
		fmt.Printf("k=%d s=%d r=%d: %d bytes a row, misses %.2f %%, lets through %.2f %%\n", f.K, f.S, f.R, f.Bytes, 100*f.Miss, 100*f.Accept)
	}
	// Output:
	// k=8 s=5 r=2: 126 bytes a row, misses 0.99 %, lets through 2.41 %
	// k=11 s=2 r=6: 132 bytes a row, misses 0.90 %, lets through 3.43 %
	// k=10 s=3 r=4: 132 bytes a row, misses 0.57 %, lets through 2.75 %
}

func ExamplePresets() {
	for _, p := range sketch.Presets() {
		fmt.Fprintf(os.Stdout, "%-11s  %s at %.2f\n", p.Name, p.Settings, p.AtLeast)
	}
	// Output:
	// prose        words w=2 set fast t=168 k=23 s=4 r=2 at 0.55
	// paragraphs   chars w=5 set fast t=168 k=23 s=4 r=2 at 0.55
	// short        chars w=3 set fast t=168 k=23 s=4 r=2 at 0.55
	// names        chars w=2 set fast t=168 k=31 s=4 r=2 at 0.51
	// unsegmented  chars w=3 set fast t=168 k=24 s=3 r=2 at 0.45
	// sequences    chars w=11 set fast t=168 k=24 s=3 r=2 at 0.45
	// pages        page w=2 set fast t=168 k=27 s=5 r=2 at 0.60
	// code         code w=2 set fast t=168 k=34 s=4 r=2 at 0.50
	// logs         chars w=3 set fast t=168 k=27 s=5 r=2 at 0.60
	// records      chars w=3 set fast t=168 k=31 s=5 r=2 at 0.58
	// web          html w=6 set fast t=84 k=6 s=14 r=2 at 0.91
	// bing         words w=4 set fast t=30 k=6 s=5 r=4 at 0.79
}
