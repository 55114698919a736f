package report

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Output is the end of a command that reports: the numbers as JSON to the standard output, or
// the page to the file called name, which it prints, or to the standard output if name is -.
func (r *Report) Output(stdout io.Writer, name string, numbers bool) error {
	if numbers {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	if name == "-" {
		return r.Write(stdout)
	}
	if err := WriteFile(name, r.Write); err != nil {
		return err
	}
	_, err := fmt.Fprintln(stdout, name)
	return err
}

// WriteFile writes a file, compressed if its name ends in .gz. The name appears when the file is whole; a file that it replaces keeps
// its rights. A device or a pipe is written to as it is.
func WriteFile(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		device, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(pack(name, device, write), device.Close())
	}
	return ReplaceFile(name, func(hidden string) error {
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

// ReplaceFile has a file made under a hidden name beside its own, and gives it its name when it is whole.
func ReplaceFile(name string, write func(hidden string) error) (err error) {
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
