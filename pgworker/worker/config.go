package worker

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/alike-sql/alike/sketch/extract"
)

// Config says how a worker works. The zero value of everything but DatabaseURL
// means its default.
type Config struct {
	// DatabaseURL is a URL or a keyword string as libpq takes them. Required.
	DatabaseURL string
	// Lanes is how many batches are worked on at once. Defaults to 1; a second
	// worker does the same as a second lane.
	Lanes int
	// Extractions is how many documents are read at once whose text a command
	// extracts, or that are long. They keep no lane waiting. Defaults to 1.
	Extractions int
	// BatchSize is the most queue entries in a transaction. Defaults to 1000.
	BatchSize int
	// ChunkRows is how many rows a transaction of a backfill has. Defaults to
	// 20000.
	ChunkRows int
	// PollInterval is how often an idle worker does its maintenance: it retries
	// failed rows and reports progress. Whether there is something to do it looks many
	// times a second. Defaults to 1 second.
	PollInterval time.Duration
	// ScanInterval is how often a table that takes no triggers (mode scan) is
	// compared with its sketches. Defaults to 1 minute.
	ScanInterval time.Duration
	// MaxDocument is the size in bytes above which a document is refused.
	// Defaults to 64 MiB.
	MaxDocument int64
	// MaxAttempts is how often a row that fails is tried before it is parked.
	// Defaults to 8.
	MaxAttempts int
	// Backoff is the wait before the second attempt; it doubles each time, up to
	// MaxBackoff. They default to 1 second and 1 hour.
	Backoff, MaxBackoff time.Duration
	// StatementTimeout bounds a statement, LockTimeout the wait for a lock, and
	// IdleTimeout how long a stopped worker keeps its rows locked. They default
	// to 5 minutes, 5 seconds and 1 minute.
	StatementTimeout, LockTimeout, IdleTimeout time.Duration
	// AllowSuperuser lets the worker run as a superuser. Then every owner of an
	// attached table can have it run code with all rights.
	AllowSuperuser bool
	// Requests is how many HTTP requests with a document are answered at once, and
	// RequestBytes how many bytes their documents have together; more are told to
	// retry. They default to 64, and to twice MaxDocument. RequestTime bounds each; it
	// defaults to 1 minute.
	Requests     int
	RequestBytes int64
	RequestTime  time.Duration
	// Token, unless it is empty, is what HTTP requests have to bring.
	Token string
	// Extract says which commands turn bytes into text. Its Output defaults to
	// MaxDocument.
	Extract extract.Config
	// Logger gets what is worth saying. Defaults to slog.Default().
	Logger *slog.Logger
	// Progress, when it is not nil, is called every now and then while a side
	// table is being filled.
	Progress func(Progress)
}

// Limits of what Config says.
const (
	MaxLanes        = 64
	MaxExtractions  = 64
	MaxBatchSize    = 10_000
	MaxChunkRows    = 1_000_000
	AttemptsLimit   = 1000
	MaxRequests     = 10_000
	LargestDocument = 1 << 30
	MinInterval     = time.Millisecond
)

// Progress is how far a side table is filled.
type Progress struct {
	Name      string // the attachment's
	Rows      int64  // in all
	Remaining int64
}

// validate fills in defaults and names the first setting that is out of its
// limits.
func (c *Config) validate() error {
	if c.DatabaseURL == "" {
		return fmt.Errorf("worker: DatabaseURL is empty")
	}
	for _, n := range [...]struct {
		name      string
		value     *int
		otherwise int
		max       int
	}{
		{"Lanes", &c.Lanes, 1, MaxLanes},
		{"Extractions", &c.Extractions, 1, MaxExtractions},
		{"BatchSize", &c.BatchSize, 1000, MaxBatchSize},
		{"ChunkRows", &c.ChunkRows, 20000, MaxChunkRows},
		{"Requests", &c.Requests, 64, MaxRequests},
		{"MaxAttempts", &c.MaxAttempts, 8, AttemptsLimit},
	} {
		if *n.value == 0 {
			*n.value = n.otherwise
		}
		if *n.value < 1 || *n.value > n.max {
			return fmt.Errorf("worker: %s is %d, want 1 to %d", n.name, *n.value, n.max)
		}
	}
	for _, d := range [...]struct {
		name      string
		value     *time.Duration
		otherwise time.Duration
	}{
		{"PollInterval", &c.PollInterval, time.Second},
		{"ScanInterval", &c.ScanInterval, time.Minute},
		{"Backoff", &c.Backoff, time.Second},
		{"MaxBackoff", &c.MaxBackoff, time.Hour},
		{"StatementTimeout", &c.StatementTimeout, 5 * time.Minute},
		{"LockTimeout", &c.LockTimeout, 5 * time.Second},
		{"IdleTimeout", &c.IdleTimeout, time.Minute},
		{"RequestTime", &c.RequestTime, time.Minute},
	} {
		if *d.value == 0 {
			*d.value = d.otherwise
		}
		if *d.value < MinInterval {
			return fmt.Errorf("worker: %s is %s, want at least %s", d.name, *d.value, MinInterval)
		}
	}
	if c.MaxDocument == 0 {
		c.MaxDocument = 64 << 20
	}
	if c.MaxDocument < 1 || c.MaxDocument > LargestDocument {
		return fmt.Errorf("worker: MaxDocument is %d, want 1 to %d", c.MaxDocument, LargestDocument)
	}
	if c.Extract.Output == 0 {
		c.Extract.Output = c.MaxDocument
	}
	if c.RequestBytes == 0 {
		c.RequestBytes = 2 * c.MaxDocument
	}
	if c.RequestBytes < c.MaxDocument {
		return fmt.Errorf("worker: RequestBytes is %d, want at least MaxDocument, %d", c.RequestBytes, c.MaxDocument)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return nil
}
