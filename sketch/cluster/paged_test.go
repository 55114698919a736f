package cluster

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPagedWords(t *testing.T) {
	for _, memory := range []int{0, 4 * pageBytes, 1 << 30} {
		r := rand.New(rand.NewPCG(1, 4))
		f := &faults{left: math.MaxInt}
		p := newPagedWords(tempDir{t.TempDir(), f.create}, memory)
		var want []uint64
		for range 20000 {
			switch v := r.Uint64(); {
			case len(want) == 0 || v%3 > 0:
				want = append(want, v)
				if err := p.append(v); err != nil {
					t.Fatal(err)
				}
			case v%6 == 0:
				i := r.IntN(len(want))
				want[i] = v
				if err := p.set(i, v); err != nil {
					t.Fatal(err)
				}
			default:
				i := r.IntN(len(want))
				if got, err := p.get(i); err != nil || got != want[i] {
					t.Fatalf("word %d of %d is %d, want %d, %v", i, len(want), got, want[i], err)
				}
			}
		}
		if pages := len(p.slots); pages > max(1, memory/pageBytes) || (f.open > 0) != (memory < 1<<20) {
			t.Errorf("%d bytes: %d pages, %d files", memory, pages, f.open)
		}
		if err := p.close(); err != nil || f.open != 0 {
			t.Errorf("%v, %d files open", err, f.open)
		}
	}
}

// A page that comes and goes takes no new memory.
func TestPagedWordsAllocateNothing(t *testing.T) {
	p := newPagedWords(tempDir{t.TempDir(), createTemp}, 0)
	defer p.close()
	for range 4 * pageWords {
		if err := p.append(1); err != nil {
			t.Fatal(err)
		}
	}
	page := 0
	if n := testing.AllocsPerRun(100, func() {
		page++
		if err := p.set(page%4*pageWords, 2); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a page, want none", n)
	}
}
