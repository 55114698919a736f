// Package chromium drives a headless Chromium over its debugging pipe: enough
// of the DevTools protocol to see a page as people with different screens and
// settings see it.
package chromium

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A Browser shows one page. One goroutine uses it.
type Browser struct {
	cmd     *exec.Cmd
	stop    context.CancelFunc
	to      io.WriteCloser
	from    io.Closer
	answers *bufio.Reader // of from
	stderr  bytes.Buffer
	profile string
	session string
	id      int
	loaded  map[string]bool // documents whose load event has come, by the browser's name for the load

	Requests []string // the addresses that the page asked for
	Errors   []string // the errors in the page's console, and the dialogs that it opened
}

// starts is how often Start tries: on a busy machine Chromium ends when one of
// its own processes does not answer it in time.
const starts = 3

// Start starts a browser, which runs until Close is called or the context ends.
// No call has a time limit of its own.
func Start(ctx context.Context) (*Browser, error) {
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		return nil, errors.New("chromium is not installed; .ci/setup browser installs it")
	}
	var failed error
	for range starts {
		b, err := start(ctx, program)
		if err == nil {
			return b, nil
		}
		failed = errors.Join(failed, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}

func start(ctx context.Context, program string) (*Browser, error) {
	profile, err := os.MkdirTemp("", "alike-chromium")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	b := &Browser{stop: stop, profile: profile, loaded: map[string]bool{}}
	b.cmd = exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-gpu-watchdog", "--disable-hang-monitor", "--disable-quic",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage",
		"--disable-breakpad", "--hide-scrollbars", "--mute-audio", "--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	b.cmd.Env = append(os.Environ(), "TMPDIR="+profile) // Close removes what a killed browser leaves there
	b.cmd.Stderr = &b.stderr
	b.cmd.WaitDelay = time.Second // a child that outlives the browser holds its standard error
	// Chromium reads commands from descriptor 3 and answers on 4.
	itsIn, to, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	b.to = to
	from, itsOut, err := os.Pipe()
	if err != nil {
		itsIn.Close()
		return nil, errors.Join(err, b.Close())
	}
	b.from, b.answers = from, bufio.NewReaderSize(from, 1<<16)
	b.cmd.ExtraFiles = []*os.File{itsIn, itsOut}
	err = b.cmd.Start()
	itsIn.Close()
	itsOut.Close()
	if err == nil {
		err = b.attach()
	}
	if err != nil {
		err = errors.Join(err, b.Close())
		return nil, fmt.Errorf("%w\n%s", err, b.stderr.Bytes())
	}
	return b, nil
}

// Close ends the browser and removes its files.
func (b *Browser) Close() error {
	b.stop()
	if b.cmd.Process != nil {
		_ = b.cmd.Wait() // the error is that of the kill
	}
	for _, pipe := range []io.Closer{b.to, b.from} {
		if pipe != nil {
			pipe.Close()
		}
	}
	return os.RemoveAll(b.profile)
}

func (b *Browser) attach() error {
	var target struct{ TargetID string }
	if err := b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return err
	}
	var attached struct{ SessionID string }
	if err := b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return err
	}
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		if err := b.call(domain+".enable", nil, nil); err != nil {
			return err
		}
	}
	return b.call("Page.setLifecycleEventsEnabled", map[string]any{"enabled": true}, nil)
}

type message struct {
	ID        int                       `json:"id,omitempty"`
	SessionID string                    `json:"sessionId,omitempty"`
	Method    string                    `json:"method,omitempty"`
	Params    json.RawMessage           `json:"params,omitempty"`
	Result    json.RawMessage           `json:"result,omitempty"`
	Error     *struct{ Message string } `json:"error,omitempty"`
}

// call sends a command and waits for its answer.
func (b *Browser) call(method string, params, result any) error {
	b.id++
	body, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if params == nil {
		body = []byte("{}")
	}
	send, err := json.Marshal(message{ID: b.id, SessionID: b.session, Method: method, Params: body})
	if err != nil {
		return err
	}
	if _, err := b.to.Write(append(send, 0)); err != nil {
		return err
	}
	for {
		m, err := b.next()
		if err != nil {
			return fmt.Errorf("chromium: %s: %w", method, err)
		}
		if m.ID != b.id {
			continue
		}
		if m.Error != nil {
			return fmt.Errorf("chromium: %s: %s", method, m.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	}
}

// next reads a message and records the requests, errors and load events in it.
func (b *Browser) next() (m message, err error) {
	raw, err := b.answers.ReadBytes(0)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(bytes.TrimSuffix(raw, []byte{0}), &m); err != nil {
		return m, err
	}
	switch m.Method {
	case "Network.requestWillBeSent":
		var e struct{ Request struct{ URL string } }
		if json.Unmarshal(m.Params, &e) == nil {
			b.Requests = append(b.Requests, e.Request.URL)
		}
	case "Page.lifecycleEvent":
		var e struct{ LoaderID, Name string }
		if json.Unmarshal(m.Params, &e) == nil && e.Name == "load" {
			b.loaded[e.LoaderID] = true
		}
	case "Log.entryAdded", "Runtime.exceptionThrown", "Page.javascriptDialogOpening":
		b.Errors = append(b.Errors, string(m.Params))
	}
	return m, nil
}

// Open shows a file and waits until it is loaded. With bypass, Eval runs scripts
// that the page's policy forbids.
func (b *Browser) Open(file string, bypass bool) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	return b.Visit("file://"+filepath.ToSlash(path), bypass)
}

// Visit is Open for an address.
func (b *Browser) Visit(address string, bypass bool) error {
	if err := b.call("Page.setBypassCSP", map[string]any{"enabled": bypass}, nil); err != nil {
		return err
	}
	b.Requests, b.Errors = nil, nil
	var shown struct{ LoaderID, ErrorText string }
	if err := b.call("Page.navigate", map[string]any{"url": address}, &shown); err != nil {
		return err
	}
	if shown.ErrorText != "" {
		return errors.New("chromium: " + shown.ErrorText)
	}
	for !b.loaded[shown.LoaderID] {
		if _, err := b.next(); err != nil {
			return fmt.Errorf("chromium: %s is not loaded: %w", address, err)
		}
	}
	return nil
}

// Scripts switches the scripts of pages on or off.
func (b *Browser) Scripts(on bool) error {
	return b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": !on}, nil)
}

// Leads does what makes the page load another one, and waits until that is loaded.
func (b *Browser) Leads(act func() error) error {
	before := len(b.loaded)
	if err := act(); err != nil {
		return err
	}
	for len(b.loaded) == before {
		if _, err := b.next(); err != nil {
			return err
		}
	}
	return nil
}

// A Screen is the size and the settings of a reader's screen.
type Screen struct {
	Width, Height int
	Scale         float64
	Dark, Print   bool
}

// Look sets the screen.
func (b *Browser) Look(s Screen) error {
	scheme, media := "light", "screen"
	if s.Dark {
		scheme = "dark"
	}
	if s.Print {
		media = "print"
	}
	if s.Scale == 0 {
		s.Scale = 1
	}
	if err := b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": s.Width, "height": s.Height, "deviceScaleFactor": s.Scale, "mobile": s.Width < 600}, nil); err != nil {
		return err
	}
	return b.call("Emulation.setEmulatedMedia", map[string]any{"media": media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Eval runs JavaScript, waits for its promise and decodes its value into result.
func (b *Browser) Eval(script string, result any) error {
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := b.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &answer); err != nil {
		return err
	}
	if e := answer.ExceptionDetails; e != nil {
		return fmt.Errorf("chromium: %s %s", e.Text, e.Exception.Description)
	}
	if result == nil || answer.Result.Value == nil {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, result)
}

// Press presses and releases a key, such as Tab or Enter.
func (b *Browser) Press(key string, code int) error {
	text := ""
	if key == "Enter" {
		text = "\r"
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		if err := b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}, nil); err != nil {
			return err
		}
		text = ""
	}
	return nil
}

// Picture returns a PNG of the screen.
func (b *Browser) Picture() ([]byte, error) {
	return b.data("Page.captureScreenshot", map[string]any{"format": "png"})
}

// PDF prints the page.
func (b *Browser) PDF() ([]byte, error) {
	return b.data("Page.printToPDF", map[string]any{"preferCSSPageSize": true, "paperWidth": 8.27, "paperHeight": 11.69})
}

func (b *Browser) data(method string, params any) ([]byte, error) {
	var answer struct{ Data string }
	if err := b.call(method, params, &answer); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(answer.Data)
}
