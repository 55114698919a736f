package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/alike-sql/alike/pgworker/worker"
	"github.com/alike-sql/alike/sketch/extract"
)

// runOptions is what the flags of run say.
type runOptions struct {
	once                 bool
	listen               string
	commands             []string // of --extract
	tokenFile, reviewURL string
	review               bool
	reviewHosts          []string
	config               worker.Config
}

func (c *command) runCommand() *cobra.Command {
	var o runOptions
	run := &cobra.Command{
		Use:   "run",
		Short: "Keep the attached tables up to date",
		Long: `run takes what was checked in from the queue and writes its sketches, until it is
told to stop; any number may run, on any machines. --once stops when nothing is
left to do, for cron, and fails when it leaves work undone since a table cannot
be worked on.

It reads documents with the rights of its role, which is a member of the roles
that own the attached tables. A superuser is refused unless --allow-superuser
is given, and so is a connection pooler whose clients share sessions.

--listen answers on an address of this machine: /metrics for Prometheus,
/health, and POST /sketch and /check for programs that ask before they check
in. The address is 127.0.0.1 unless you say otherwise, or a unix socket as
unix:/path. With --token-file, or $ALIKE_TOKEN, requests have to bring the token
(Authorization: Bearer TOKEN); without, anyone who reaches the address may ask.

--review adds a page, /review/, on which people decide about pairs in a browser.
It opens with the token, which it needs. The page logs in to the database by
--review-url, or $ALIKE_REVIEW_URL, and acts with the rights of that role: what
the role may not read is not shown, and it keeps verdicts as alike.mark does.
--review-host names a host under which browsers reach the page, beside localhost
and addresses.`,
		Example: `  pgworker run --lanes 2 --listen :8410
  pgworker run --once
  ALIKE_REVIEW_URL=postgres://editor@db/app pgworker run --listen :8410 --review --token-file token
  pgworker run --extract 'application/msword=antiword -'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runWorker(cmd.Context(), o) },
	}
	flags := run.Flags()
	flags.BoolVar(&o.once, "once", false, "stop when nothing is left to do")
	flags.StringVar(&o.listen, "listen", "", "answer HTTP on this `address`: host:port, :port for this machine alone, or unix:/path")
	flags.StringArrayVar(&o.commands, "extract", nil, "`type=command` that turns a media type into text on its standard output; may be repeated")
	intFlag(flags, &o.config.Lanes, "lanes", 1, 1, worker.MaxLanes, "batches worked on at once")
	flags.StringVar(&o.tokenFile, "token-file", "", "a `file` with the token that HTTP requests have to bring; $ALIKE_TOKEN unless given")
	flags.BoolVar(&o.review, "review", false, "serve /review/, a page on which people decide about pairs")
	flags.StringVar(&o.reviewURL, "review-url", "", "the database as the review page logs in, a URL or key=value `string`; $ALIKE_REVIEW_URL unless given")
	flags.StringArrayVar(&o.reviewHosts, "review-host", nil, "a `name` under which browsers reach the review page; may be repeated")
	flags.BoolVar(&o.config.AllowSuperuser, "allow-superuser", false, "run as a superuser: owners of attached tables can then have any code run")
	intFlag(flags, &o.config.Extractions, "extractions", 1, 1, worker.MaxExtractions, "slow documents read at once: long ones, and those whose text a command extracts")
	durationFlag(flags, &o.config.Extract.Timeout, "extract-timeout", 30*time.Second, worker.MinInterval, "how long a command may run")
	int64Flag(flags, &o.config.Extract.Memory, "extract-memory", 1<<30, 1<<20, 1<<40, "the memory of a command, in bytes")
	intFlag(flags, &o.config.Requests, "requests", 64, 1, worker.MaxRequests, "HTTP requests with a document at once; more are told to retry")
	intFlag(flags, &o.config.BatchSize, "batch", 1000, 1, worker.MaxBatchSize, "rows in a transaction")
	durationFlag(flags, &o.config.PollInterval, "poll", time.Second, worker.MinInterval, "how often to look without being told")
	durationFlag(flags, &o.config.ScanInterval, "scan", time.Minute, worker.MinInterval, "how often to compare a table without triggers with its sketches")
	int64Flag(flags, &o.config.MaxDocument, "max-document", 64<<20, 1, worker.LargestDocument, "the largest document, in bytes")
	intFlag(flags, &o.config.MaxAttempts, "max-attempts", 8, 1, worker.AttemptsLimit, "how often a row that fails is tried")
	return run
}

// runWorker starts a worker, and what answers HTTP beside it.
func (c *command) runWorker(ctx context.Context, o runOptions) error {
	url, err := c.url()
	if err != nil {
		return err
	}
	o.config.DatabaseURL = url
	if o.once && o.listen != "" {
		return usagef("--once and --listen exclude each other: --once stops when the work is done")
	}
	if o.config.Extract.Commands, err = extractCommands(o.commands); err != nil {
		return err
	}
	if err := checkAddress(o.listen); err != nil {
		return usagef("--listen %q: %w; want host:port, :port or unix:/path", o.listen, err)
	}
	if o.config.Token, err = token(o.tokenFile); err != nil {
		return err
	}
	if o.review && (o.listen == "" || o.config.Token == "") {
		return usagef("--review needs --listen and a token: --token-file or ALIKE_TOKEN")
	}
	var page *pgxpool.Config
	if o.review {
		if page, err = reviewConfig(cmp.Or(o.reviewURL, os.Getenv("ALIKE_REVIEW_URL")), o.reviewHosts); err != nil {
			return err
		}
	}
	terminal := term.IsTerminal(int(os.Stderr.Fd()))
	if terminal {
		o.config.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		bars := &bars{}
		o.config.Progress = bars.show
		defer bars.end()
	} else {
		o.config.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
		o.config.Progress = progressLines(o.config.Logger)
	}
	w, err := worker.New(ctx, o.config)
	if err != nil {
		return err
	}
	defer w.Close()
	if o.once {
		return w.Once(ctx)
	}
	if o.listen == "" {
		return w.Run(ctx)
	}
	handler := w.Handler()
	if o.review {
		page, done, err := reviewPage(ctx, page, o.config.Token, o.reviewHosts, o.config.AllowSuperuser)
		if err != nil {
			return err
		}
		defer done()
		handler = beside(page, handler)
	}
	return runWith(ctx, w, o.listen, handler, o.config.Logger)
}

// extractCommands reads media types and their commands, beside the usual ones.
func extractCommands(given []string) (map[string][]string, error) {
	commands := extract.Defaults()
	for _, g := range given {
		media, command, ok := strings.Cut(g, "=")
		if words := strings.Fields(command); ok && len(words) > 0 {
			commands[media] = words
			continue
		}
		return nil, usagef("--extract %q: want type=command", g)
	}
	if _, err := extract.New(extract.Config{Commands: commands}); err != nil {
		return nil, usagef("--extract: %w, as in application/msword=antiword -", err)
	}
	return commands, nil
}

// token is what HTTP requests have to bring, "" for nothing.
func token(file string) (string, error) {
	if file == "" {
		return os.Getenv("ALIKE_TOKEN"), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", usagef("--token-file: %w", err)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", usagef("--token-file %s is empty", file)
	}
	return secret, nil
}

// runWith runs a worker with its HTTP endpoint.
func runWith(ctx context.Context, w *worker.Worker, address string, handler http.Handler, log *slog.Logger) error {
	listener, err := listenOn(address)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	log.Info("listening", "address", listener.Addr().String())
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			stop(fmt.Errorf("http: %w", err))
		}
	})
	err = w.Run(ctx)
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	closing, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	if server.Shutdown(closing) != nil {
		server.Close()
	}
	wait.Wait()
	return err
}

// checkAddress says what is wrong with how an address is written.
func checkAddress(address string) error {
	if address == "" {
		return nil // not asked for
	} else if path, ok := strings.CutPrefix(address, "unix:"); ok {
		if path == "" {
			return errors.New("missing path in address")
		}
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	return err
}

// listenOn opens an address. A port without a host is this machine's alone.
func listenOn(address string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		// A socket that a killed worker left behind is in the way; a socket that
		// answers is not ours to take.
		if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
			return nil, fmt.Errorf("listen: another process listens on %s already", path)
		}
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
			os.Remove(path)
		}
		return net.Listen("unix", path)
	}
	if strings.HasPrefix(address, ":") {
		address = "127.0.0.1" + address
	}
	return net.Listen("tcp", address)
}

// bars shows one progress bar an attachment that is being filled.
type bars struct {
	name string
	bar  *progressbar.ProgressBar
}

func (b *bars) show(p worker.Progress) {
	if p.Remaining == 0 && p.Name != b.name {
		return
	}
	if p.Name != b.name {
		b.end()
		b.name = p.Name
		b.bar = progressbar.NewOptions64(p.Rows, progressbar.OptionSetDescription(cell(p.Name)), progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("rows"),
			progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionSetPredictTime(true))
	}
	b.bar.ChangeMax64(p.Rows)
	_ = b.bar.Set64(p.Rows - p.Remaining) // an error of the terminal is no error of the work
	if p.Remaining == 0 {
		b.end()
	}
}

func (b *bars) end() {
	if b.bar != nil {
		fmt.Fprintln(os.Stderr)
		b.name, b.bar = "", nil
	}
}

// progressLines logs a line every ten seconds where the output is no terminal.
func progressLines(log *slog.Logger) func(worker.Progress) {
	next := map[string]time.Time{}
	return func(p worker.Progress) {
		if p.Remaining > 0 && time.Now().After(next[p.Name]) {
			next[p.Name] = time.Now().Add(10 * time.Second)
			log.Info("filling", "attachment", p.Name, "rows", p.Rows, "remaining", p.Remaining)
		}
	}
}
