package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// writeFile writes a file, compressed if its name ends in .gz. The name appears when the file is whole; a file that it replaces keeps
// its rights. A device or a pipe is written to as it is.
func writeFile(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		device, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(pack(name, device, write), device.Close())
	}
	return replaceFile(name, func(hidden string) error {
		file, err := os.OpenFile(hidden, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		if err := pack(name, file, write); err != nil {
			file.Close()
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}

// pack writes through a buffer, and compresses.
func pack(name string, to io.Writer, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(to, 1<<20)
	if strings.HasSuffix(name, ".gz") {
		z := gzip.NewWriter(w)
		if err := write(z); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
	} else if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// replaceFile has a file made under a hidden name beside its own, and gives it its name when it is whole.
func replaceFile(name string, write func(hidden string) error) (err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // the link stays
	}
	hidden := filepath.Join(filepath.Dir(name), fmt.Sprintf(".alike-%016x%s", rand.Uint64(), filepath.Ext(name)))
	defer func() {
		if err != nil {
			os.Remove(hidden)
		}
	}()
	if err := write(hidden); err != nil {
		return err
	}
	if info, err := os.Stat(name); err == nil {
		if err := os.Chmod(hidden, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return os.Rename(hidden, name)
}

// sameFile tells whether two names are those of one file.
func sameFile(a, b string) bool {
	if a == "-" || b == "-" {
		return false
	}
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || err == nil && err2 == nil && os.SameFile(x, y)
}
