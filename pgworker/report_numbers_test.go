package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/report"
)

// The numbers of a report are what brute force finds in the documents: every pair of
// rows is looked at here, and its resemblance computed from the texts.
func TestReportNumbers(t *testing.T) {
	_, conn := filled(t)
	if _, err := conn.Exec(t.Context(), "create table notes (id int primary key, body text)"); err != nil {
		t.Fatal(err)
	}
	texts := editedPairs()
	for i, text := range texts {
		if _, err := conn.Exec(t.Context(), "insert into notes values ($1, $2)", i, text); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "attach", "notes", "body", "--profile", "words w=4 t=84 k=12 s=7", "--si", "length")
	must(t, "run", "--once", "--allow-superuser")
	var got report.Report
	if err := json.Unmarshal([]byte(must(t, "report", "--json", "--table", "notes")), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Attachments[0]

	var settings string
	if err := conn.QueryRow(context.Background(), "select p.profile from alike.attachment a join alike.settings p on p.id = a.profile_id where a.name = 'notes'").Scan(&settings); err != nil {
		t.Fatal(err)
	}
	p, err := sketch.ParseProfile(settings)
	if err != nil {
		t.Fatal(err)
	}
	want := lookAtAll(t, p, texts, s.AtLeast)
	if want.pairs < 60 || s.Candidates.Pairs != want.pairs || s.Candidates.Alike != want.alike || s.Candidates.Rows != int64(len(want.rows)) || s.Candidates.Bands != want.bands {
		t.Errorf("candidates %+v, want %d pairs, %d alike of %d rows, bands %v", s.Candidates, want.pairs, want.alike, len(want.rows), want.bands)
	}
	if s.Indexes[0].Inside != want.inside || s.Indexes[0].Pairs != 2*want.alike {
		t.Errorf("the index %+v, want %d of %d inside", s.Indexes[0], want.inside, 2*want.alike)
	}
	// Every pair is in the sample, since no band has as many as are sampled and no row
	// is in more than two.
	if s.Measured.Pairs != int(want.pairs) || len(s.Measured.Points) < 3 {
		t.Errorf("%d pairs and %d points are measured, want %d and several", s.Measured.Pairs, len(s.Measured.Points), want.pairs)
	}
	checkPoints(t, s, want.measured)
}

// editedPairs are texts of which each second is the one before with a part of its words changed.
func editedPairs() (texts []string) {
	r := rand.New(rand.NewPCG(7, 7))
	for i := range 360 {
		words := make([]string, 80)
		for j := range words {
			words[j] = fmt.Sprintf("w%dx%d", i, r.IntN(100000))
		}
		texts = append(texts, strings.Join(words, " "))
		for range i % 6 {
			words[r.IntN(len(words))] = fmt.Sprintf("new%d", r.IntN(100000))
		}
		texts = append(texts, strings.Join(words, " "))
	}
	return texts
}

// looked is what a look at every pair of documents finds.
type looked struct {
	bands                [20]int64
	pairs, alike, inside int64
	rows                 map[int]bool
	measured             map[int]*tally // by the band of the exact resemblance
}

type tally struct{ exact, weight, found, pairs float64 }

func lookAtAll(t *testing.T, p sketch.Profile, texts []string, atLeast float64) looked {
	t.Helper()
	sketcher, err := sketch.NewSketcher(p)
	if err != nil {
		t.Fatal(err)
	}
	stored := make([][]byte, len(texts))
	features := make([][]sketch.Feature, len(texts))
	lengths := make([]int64, len(texts))
	for i, text := range texts {
		sketcher.Reset()
		sketcher.Document([]byte(text))
		stored[i], features[i], lengths[i] = sketcher.AppendSketch(nil), sketcher.AppendFeatures(nil), sketcher.Shingles()
	}
	l := looked{rows: map[int]bool{}, measured: map[int]*tally{}}
	for a := range texts {
		for b := range a {
			shared := 0
			for _, f := range features[a] {
				for _, g := range features[b] {
					if f == g {
						shared++
					}
				}
			}
			if shared == 0 {
				continue
			}
			l.pairs++
			estimate, err := sketch.Resemblance(stored[a], stored[b])
			if err != nil {
				t.Fatal(err)
			}
			l.bands[min(int(estimate*20), 19)]++
			if estimate >= atLeast {
				l.alike++
				l.rows[a], l.rows[b] = true, true
				if ratio := float64(lengths[a]) / float64(lengths[b]); ratio >= atLeast && ratio <= 1/atLeast {
					l.inside += 2
				}
			}
			exact, ok, err := sketch.ExactResemblance(p, []byte(texts[a]), []byte(texts[b]))
			if err != nil || !ok {
				t.Fatalf("exact: %v, %v", ok, err)
			}
			to := l.measured[min(int(exact*20), 19)]
			if to == nil {
				to = &tally{}
				l.measured[min(int(exact*20), 19)] = to
			}
			to.pairs++
			to.exact += exact
			to.weight += float64(shared)
			if shared > 1 {
				to.found += float64(shared)
			}
		}
	}
	return l
}

// checkPoints compares the points of the measured filter with the tallies of their bands.
func checkPoints(t *testing.T, s *report.Section, measured map[int]*tally) {
	t.Helper()
	for _, point := range s.Measured.Points {
		want := measured[min(int(point.Resemblance*20), 19)]
		if want == nil {
			t.Errorf("a point at %g, where there is no pair", point.Resemblance)
			continue
		}
		curve := 1 - math.Pow(1-math.Pow(point.Resemblance, float64(s.S)), float64(s.K-1))
		for _, c := range []struct {
			what      string
			got, want float64
		}{
			{"pairs", float64(point.Pairs), want.pairs},
			{"resemblance", point.Resemblance, want.exact / want.pairs},
			{"share found", point.Found, want.found / want.weight},
			{"curve", point.Curve, curve},
		} {
			if math.Abs(c.got-c.want) > 1e-9 {
				t.Errorf("at %.3f: %s %g, want %g", point.Resemblance, c.what, c.got, c.want)
			}
		}
		if point.Low > point.Found || point.High < point.Found || point.Low < 0 || point.High > 1 {
			t.Errorf("at %.3f: %g is not in %g to %g", point.Resemblance, point.Found, point.Low, point.High)
		}
	}
}

// Of a crowd of equal rows, a smaller one and a row without a token the report says what
// can be counted by hand.
func TestReportCrowds(t *testing.T) {
	_, conn := filled(t)
	for _, sql := range []string{
		"create table notes (id int primary key, body text)",
		"insert into notes select g, case g when 30 then 'The crowd says: the same words, all of it, all day long.' else 'the crowd says the same words all of it all day long' end from generate_series(1, 53) as g",
		"insert into notes select g, (select string_agg('w' || i, ' ') from generate_series(1, 60) as i) || case g when 109 then ' and some more' else '' end from generate_series(101, 109) as g",
		"insert into notes values (200, null)",
		"insert into notes select g, (select string_agg('v' || i, ' ') from generate_series(1, 60) as i) from generate_series(301, 312) as g",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "attach", "notes", "body", "--profile", "words w=4 t=84 k=12 s=7")
	must(t, "run", "--once", "--allow-superuser")
	var got report.Report
	if err := json.Unmarshal([]byte(must(t, "report", "--json", "--table", "notes")), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Attachments[0]
	c := s.Clusters
	if s.Empty != 1 || c.Count != 3 || c.Rows != 74 || c.Largest != 53 || fmt.Sprint(c.Sizes) != "[{6 10 1} {11 20 1} {21 40 0} {41 80 1}]" {
		t.Errorf("%d rows without a token, clusters %d with %d rows, the largest %d, sizes %v", s.Empty, c.Count, c.Rows, c.Largest, c.Sizes)
	}
	if len(c.Shown) != 3 || c.Shown[0].Size != 53 || c.Shown[0].Key != "1" || c.Shown[0].More != 3 || c.Shown[1].Size != 12 || c.Shown[1].Key != "301" || c.Shown[2].Size != 9 || c.Shown[2].Key != "101" {
		t.Fatalf("shown: %+v", c.Shown)
	}
	if c.Shown[0].Lowest != 1 || c.Shown[2].Lowest < 0.8 || c.Shown[2].Lowest > 0.99 {
		t.Errorf("the lowest resemblances are %g and %g, want 1 and about 0.95", c.Shown[0].Lowest, c.Shown[2].Lowest)
	}
	if m := c.Shown[0].Members; len(m) != 50 || m[0].Key != "1" || m[1].Key != "30" || m[1].SameBytes || !m[2].SameBytes {
		t.Errorf("the first members are %+v %+v %+v of %d, want 1, then 30, which is not the same", m[0], m[1], m[2], len(m))
	}
	if len(s.Hot) != 2 || s.HotCount != 2 || s.Hot[1].Rows != 12 || s.Hot[0].Rows != 53 || fmt.Sprint(s.Hot[0].Slots) != "[1 2 3 4 5 6 7 8 9 10 11 12]" || fmt.Sprint(s.Hot[0].Keys) != "[1 2 3 4 5]" {
		t.Errorf("hot: %+v, want the features of 53 rows and those of 12", s.Hot)
	}
	var slots, rows int
	if err := conn.QueryRow(t.Context(), "select count(*), max(rows) from alike.hot('notes')").Scan(&slots, &rows); err != nil {
		t.Fatal(err)
	}
	if slots != 24 || rows != 53 {
		t.Errorf("alike.hot says %d features of %d rows, want 24, the most of 53", slots, rows)
	}
}
