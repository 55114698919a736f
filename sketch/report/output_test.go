//go:build unix

package report

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func words(w io.Writer) error {
	_, err := io.WriteString(w, "all of it")
	return err
}

// A file is replaced when the new one is whole, and then keeps its rights; a link stays a link.
func TestWriteFile(t *testing.T) {
	folder := t.TempDir()
	name, link := filepath.Join(folder, "page.html"), filepath.Join(folder, "link.html")
	if err := os.WriteFile(name, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(name, link); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	if err := WriteFile(link, func(w io.Writer) error { return errors.Join(words(w), full) }); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "before" {
		t.Errorf("after a failure the file holds %q, error %v, want what it held before", b, err)
	}
	if err := WriteFile(link, words); err != nil {
		t.Fatal(err)
	}
	target, err := os.Readlink(link)
	if err != nil || target != name {
		t.Errorf("the link leads to %q, error %v, want %s", target, err, name)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "all of it" || info.Mode().Perm() != 0o600 {
		t.Errorf("the file holds %q with the rights %v, error %v, want all of it and 0600", b, info.Mode(), err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder has %v, error %v, want the file and the link", entries, err)
	}
}

// A pipe or a device is written to and is not replaced.
func TestWritePipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan []byte)
	go func() {
		b, _ := os.ReadFile(pipe)
		read <- b
	}()
	if err := WriteFile(pipe, words); err != nil {
		t.Fatal(err)
	}
	if b := <-read; !bytes.Equal(b, []byte("all of it")) {
		t.Errorf("the pipe brought %q, want all of it", b)
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, error %v", info.Mode(), err)
	}
}

func TestConfigLimits(t *testing.T) {
	for _, c := range []Config{{Members: 1}, {Members: MaxMembers + 1}, {Clusters: -1}, {Clusters: MaxClusters + 1}} {
		if err := c.setDefaults(); err == nil {
			t.Errorf("%d clusters and %d members: no error", c.Clusters, c.Members)
		}
	}
	for _, c := range []Config{{}, {Members: 2, Clusters: 1}, {Members: MaxMembers, Clusters: MaxClusters}} {
		if err := c.setDefaults(); err != nil {
			t.Error(err)
		}
	}
}
