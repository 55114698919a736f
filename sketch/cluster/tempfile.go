package cluster

import (
	"fmt"
	"io"
	"os"
)

// storage is what a temporary file must be able to do.
type storage interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// createTemp makes a temporary file that is gone when it is closed and, where
// the system lets an open file be removed, also when the process is killed.
func createTemp(dir string) (storage, error) {
	f, err := os.CreateTemp(dir, "alike-*.tmp")
	if err != nil {
		return nil, err
	}
	if os.Remove(f.Name()) == nil {
		return f, nil
	}
	return namedTemp{f}, nil
}

// namedTemp is a file that could not be removed while open.
type namedTemp struct{ *os.File }

func (f namedTemp) Close() error {
	err := f.File.Close()
	if removed := os.Remove(f.Name()); err == nil {
		err = removed
	}
	return err
}

// tempDir makes temporary files in one place and names it in errors.
type tempDir struct {
	dir    string
	create func(dir string) (storage, error)
}

func (t tempDir) new() (storage, error) {
	f, err := t.create(t.dir)
	if err != nil {
		return nil, fmt.Errorf("sketch: cluster: create a temporary file in %s: %w", t.dir, err)
	}
	return f, nil
}

func (t tempDir) write(f storage, b []byte, at int64) error {
	if _, err := f.WriteAt(b, at); err != nil {
		return fmt.Errorf("sketch: cluster: write %d bytes to a temporary file in %s: %w", len(b), t.dir, err)
	}
	return nil
}

func (t tempDir) read(f storage, b []byte, at int64) error {
	if n, err := f.ReadAt(b, at); n < len(b) {
		return fmt.Errorf("sketch: cluster: read %d bytes of a temporary file in %s: %w", len(b), t.dir, err)
	}
	return nil
}
