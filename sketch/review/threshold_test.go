package review

import (
	"math"
	"math/rand/v2"
	"testing"
)

func decisions(verdict string, resemblances ...float64) (list []Decision) {
	for _, r := range resemblances {
		list = append(list, Decision{Pair: Pair{Resemblance: r}, Verdict: verdict})
	}
	return list
}

// even are n numbers from low to high.
func even(n int, low, high float64) (list []float64) {
	for i := range n {
		list = append(list, low+(high-low)*float64(i)/float64(n-1))
	}
	return list
}

func TestAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var noise []Decision
	for range 400 {
		noise = append(noise, decisions([]string{Duplicate, Distinct}[r.IntN(2)], 0.5+r.Float64()/2)...)
	}
	for _, c := range []struct {
		name      string
		decisions []Decision
		atLeast   float64
		low, high float64 // of what is proposed
		wrong     int
		few       bool
	}{
		{"none", nil, 0.6, 0.6, 0.6, 0, true},
		{"too few", append(decisions(Distinct, even(9, 0.6, 0.7)...), decisions(Duplicate, even(10, 0.8, 1)...)...), 0.6, 0.6, 0.6, 9, true},
		{"one kind alone", decisions(Duplicate, even(100, 0.6, 1)...), 0.9, 0.9, 0.9, 75, true},
		{"too low", append(decisions(Distinct, even(20, 0.6, 0.7)...), decisions(Duplicate, even(20, 0.8, 1)...)...), 0.6, 0.7, 0.8, 20, false},
		{"too high", append(decisions(Distinct, even(20, 0.4, 0.5)...), decisions(Duplicate, even(20, 0.6, 1)...)...), 0.9, 0.5, 0.6, 15, false},
		{"right", append(decisions(Distinct, even(20, 0.4, 0.5)...), decisions(Duplicate, even(20, 0.6, 1)...)...), 0.55, 0.55, 0.55, 0, false},
		{"one decision more says nothing", append(decisions(Distinct, even(20, 0.4, 0.56)...), decisions(Duplicate, even(20, 0.6, 1)...)...), 0.56, 0.56, 0.56, 1, false},
		{"chance", noise, 0.5, 0.5, 0.5, -1, false},
	} {
		a := Agree(append(c.decisions, decisions(Duplicate, math.NaN())...), c.atLeast)
		if a.Decisions != len(c.decisions) || a.Proposed < c.low || a.Proposed > c.high || a.Few != c.few || (c.wrong >= 0 && a.Wrong != c.wrong) {
			t.Errorf("%s: %d decisions, proposed %v of %v to %v, %d wrong of %d, few %v", c.name, a.Decisions, a.Proposed, c.low, c.high, a.Wrong, c.wrong, a.Few)
		}
		n := 0
		for _, b := range a.Bands {
			n += b.Duplicate + b.Distinct
			if b.High-b.Low > 0.051 || b.Share() < 0 || b.Share() > 1 {
				t.Errorf("%s: band %+v", c.name, b)
			}
		}
		if n != a.Decisions {
			t.Errorf("%s: the bands have %d decisions, want %d", c.name, n, a.Decisions)
		}
	}
}

// Names under which a browser reaches this server, and names that other sites have made lead here.
func TestHosts(t *testing.T) {
	s := server{config: Config{Hosts: []string{"notes.example"}}}
	for host, want := range map[string]bool{
		"127.0.0.1:8411": true, "localhost:8411": true, "localhost": true, "[::1]:8411": true, "[::1]": true, "192.168.1.7": true, "notes.example": true, "notes.example:443": true,
		"evil.example": false, "evil.example:8411": false, "127.0.0.1.evil.example": false, "localhost.evil.example:80": false, "": false, ":80": false, "[": false, "notes.example.": false,
	} {
		if got := s.ours(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{" a  b\n": "a b", "x\x00\x1b[31my": "x [31my", "\xff": "\uFFFD", "": "", "é日本": "é日"} {
		if got := clean(in, len([]rune(want))); got != want && clean(in, 100) != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}
