package sqlext

import (
	"fmt"
	"os"
	"time"
)

// progress tells a person at a terminal how far a fill is, on one line that is
// drawn again and again. Elsewhere it says nothing.
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

// atTerminal is a variable for the tests.
var atTerminal = func() bool {
	info, err := os.Stderr.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
