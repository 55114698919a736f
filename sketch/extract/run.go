package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// run gives a document to a command and returns what it writes. The command
// starts in an empty folder of its own with a bare environment, and is ended
// with all that it started at the first limit it meets. Its limits are set
// before it is given the first byte of the document.
func (e *Extractor) run(ctx context.Context, command []string, doc []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.config.Timeout, fmt.Errorf("longer than %s", e.config.Timeout))
	defer cancel()
	folder, err := os.MkdirTemp("", "alike-extract-")
	if err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	defer os.RemoveAll(folder)

	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder, "LC_ALL=C.UTF-8"}
	cmd.WaitDelay = time.Second
	alone(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	output := &bounded{limit: e.config.Output, full: cancel}
	complaint := &bounded{limit: 4096}
	cmd.Stdout, cmd.Stderr = output, complaint
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	if err := limit(cmd.Process.Pid, e.config); err != nil {
		cancel()
		_ = cmd.Wait()
		return nil, fmt.Errorf("extract: limits of %s: %w", command[0], err)
	}
	fed := make(chan error, 1)
	go func() {
		_, err := io.Copy(stdin, bytes.NewReader(doc))
		stdin.Close()
		fed <- err
	}()
	err = cmd.Wait()
	<-fed // a command that does not want all of its input is not at fault
	switch {
	case output.over:
		return nil, fmt.Errorf("extract: %s: more than %d bytes of text", command[0], e.config.Output)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("extract: %s: %w", command[0], context.Cause(ctx))
	case err != nil:
		var exit *exec.ExitError
		if said := strings.TrimSpace(string(complaint.kept)); errors.As(err, &exit) && said != "" {
			return nil, fmt.Errorf("extract: %s: %w: %.300s", command[0], err, said)
		}
		return nil, fmt.Errorf("extract: %s: %w", command[0], err)
	}
	return output.kept, nil
}

// bounded keeps what is written up to a limit; past it, it drops the rest and,
// when there is someone to tell, says so once.
type bounded struct {
	kept  []byte
	limit int64
	over  bool
	full  func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := min(int64(len(p)), b.limit-int64(len(b.kept)))
	b.kept = append(b.kept, p[:room]...)
	if room < int64(len(p)) && !b.over {
		b.over = true
		if b.full != nil {
			b.full()
		}
	}
	return len(p), nil
}
