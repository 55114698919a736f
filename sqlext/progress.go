package sqlext

import (
	"fmt"
	"os"
	"time"
)

// progress tells a person at a terminal how far a fill is, on one line that is
// redrawn. Elsewhere it writes nothing.
func (c *conn) progress(a *attachment, what string, share float64) {
	if !atTerminal() {
		return
	}
	if what == "" {
		if c.drawn {
			fmt.Fprint(os.Stderr, "\r\x1b[K")
			c.drawn = false
		}
		return
	}
	if now := time.Now(); c.drawn && now.Sub(c.drawnAt) < 100*time.Millisecond {
		return
	} else {
		c.drawnAt, c.drawn = now, true
	}
	fmt.Fprintf(os.Stderr, "\r\x1b[K%s: %s %3.0f %%", a.Name, what, 100*share)
}

// atTerminal tells whether a person reads what is written to the standard error.
func atTerminal() bool {
	info, err := os.Stderr.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
