package cluster

import (
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// failing is a temporary file whose operations fail from the n-th on, or the n-th alone.
type failing struct {
	storage
	f *faults
}

type faults struct {
	left int // operations until the failure
	once bool
	open int
	err  error
}

func (f *faults) step() error {
	if f.left--; f.left == -1 || f.left < -1 && !f.once {
		return f.err
	}
	return nil
}

func (f *faults) create(dir string) (storage, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	s, err := createTemp(dir)
	if err == nil {
		f.open++
	}
	return failing{s, f}, err
}

func (s failing) WriteAt(b []byte, at int64) (int, error) {
	if err := s.f.step(); err != nil {
		return 0, err
	}
	return s.storage.WriteAt(b, at)
}

func (s failing) ReadAt(b []byte, at int64) (int, error) {
	if err := s.f.step(); err != nil {
		return 0, err
	}
	return s.storage.ReadAt(b, at)
}

func (s failing) Close() error {
	s.f.open--
	return s.storage.Close()
}

// Whatever operation on a temporary file fails, the error comes out, and
// nothing is left open or behind.
func TestClusterFaults(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	documents := randomDocuments(r, 600, 6, 400)
	full := errors.New("no space left on device")
	verify := func(a, b uint64) (float64, error) { return 0.5 + float64(mix(a^b)%3)/4, nil }
	for _, o := range []Options{{Shared: 1}, {Shared: 2}, {Shared: 1, Verify: verify, Resemblance: 0.75}, {Shared: 1, Verify: verify, Resemblance: 0.75, Linkage: Single}} {
		o.Dir = t.TempDir()
		failures := 0
		for n := 0; ; n = n*6/5 + 1 {
			f := &faults{left: n, once: failures%3 == 2, err: full}
			c := tinyFinder(t, o, f.create)
			var err error
			for _, d := range documents {
				if err = c.Add(d.id, d.features); err != nil {
					if again := c.Add(d.id, d.features); again != err {
						t.Fatalf("after %v came %v", err, again)
					}
					break
				}
			}
			_, read := c.Clusters(t.Context(), func(Member) error { return nil })
			if err != nil && read != err {
				t.Fatalf("after %v came %v", err, read)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if f.open != 0 {
				t.Fatalf("operation %d: %d files open", n, f.open)
			}
			if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
				t.Fatalf("operation %d: %d files left, %v", n, len(left), err)
			}
			if f.left >= 0 {
				if read != nil {
					t.Fatal(read)
				}
				break
			}
			if !errors.Is(read, full) || !strings.HasPrefix(read.Error(), "sketch: cluster: ") || !strings.Contains(read.Error(), o.Dir) {
				t.Fatalf("operation %d: %v", n, read)
			}
			failures++
		}
		if failures < 15 {
			t.Errorf("%+v: %d failures tried, want at least 15", o, failures)
		}
	}
}

// A read that returns too little, as from a file that something cut short.
type short struct{ storage }

func (s short) ReadAt(b []byte, at int64) (int, error) { return len(b) / 2, io.ErrUnexpectedEOF }

func TestClusterShortRead(t *testing.T) {
	c := tinyFinder(t, Options{}, func(dir string) (storage, error) {
		f, err := createTemp(dir)
		return short{f}, err
	})
	add(t, c, randomDocuments(rand.New(rand.NewPCG(1, 1)), 500, 6, 900))
	if _, err := c.Pairs(t.Context(), func(Pair) error { return nil }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

// A Finder that is given up needs nothing but Close.
func TestClusterAbandoned(t *testing.T) {
	f := &faults{left: math.MaxInt}
	c := tinyFinder(t, Options{}, f.create)
	add(t, c, randomDocuments(rand.New(rand.NewPCG(1, 1)), 3000, 6, 900))
	if f.open != 2 {
		t.Errorf("%d files open, want 2", f.open)
	}
	if err := c.Close(); err != nil || f.open != 0 {
		t.Errorf("%v, %d files open", err, f.open)
	}
	if err := c.Add(1, nil); err == nil {
		t.Error("added after Close")
	}
}

// A file that cannot be removed while it is open is removed when closed.
func TestNamedTemp(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := (namedTemp{f}).Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
	gone, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(gone.Close(), os.Remove(gone.Name())); err != nil {
		t.Fatal(err)
	}
	if err := (namedTemp{gone}).Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	if gone, err = os.CreateTemp(t.TempDir(), ""); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone.Name()); err != nil {
		t.Fatal(err)
	}
	if err := (namedTemp{gone}).Close(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("removed twice: %v", err)
	}
	if _, err := createTemp(t.TempDir() + "/nowhere"); err == nil {
		t.Error("a file in a folder that does not exist")
	}
}
