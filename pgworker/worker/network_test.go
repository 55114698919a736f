package worker

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/migrations/pgtest"
)

// A network lies between a worker and its server. It can be slow, drop connections,
// and swallow what is sent without a word.
type network struct {
	swallow atomic.Bool
	slow    atomic.Bool
	mutex   sync.Mutex
	open    map[net.Conn]bool
}

// before starts a network before a database, and returns the address behind it.
func before(t *testing.T, database string) (*network, string) {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "alike-net")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	listener, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	n := &network{open: map[net.Conn]bool{}}
	t.Cleanup(func() {
		listener.Close()
		n.drop(1)
	})
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(config.Host, ".s.PGSQL.5432"))
			if err != nil {
				client.Close()
				continue
			}
			n.mutex.Lock()
			n.open[client], n.open[server] = true, true
			n.mutex.Unlock()
			go n.carry(client, server)
			go n.carry(server, client)
		}
	}()
	return n, strings.Replace(database, url.QueryEscape(config.Host), url.QueryEscape(dir), 1)
}

func (n *network) carry(from, to net.Conn) {
	defer func() {
		from.Close()
		to.Close()
		n.mutex.Lock()
		delete(n.open, from)
		delete(n.open, to)
		n.mutex.Unlock()
	}()
	b := make([]byte, 4096)
	for {
		read, err := from.Read(b)
		if n.swallow.Load() {
			// What is on its way when the network fails never comes, even when it works again.
			io.Copy(io.Discard, from)
			return
		}
		if n.slow.Load() {
			time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond)
		}
		if _, writeErr := to.Write(b[:read]); err != nil || writeErr != nil {
			return
		}
	}
}

// drop closes a share of the connections.
func (n *network) drop(share float64) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	for c := range n.open {
		if rand.Float64() < share {
			c.Close()
		}
	}
}

// A network that delays, drops and swallows costs a worker time and nothing else.
func TestNetwork(t *testing.T) {
	database := pgtest.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "insert into documents select g, "+words+" from generate_series(2000, 4000) as g")
	exec(t, c, `select alike.attach('documents', 'body', '{"policy": "link"}')`)
	n, through := before(t, database)
	n.slow.Store(true)
	run(t, newWorker(t, through, func(c *Config) {
		c.Lanes, c.BatchSize, c.ChunkRows = 2, 50, 200
		c.StatementTimeout, c.IdleTimeout, c.LockTimeout = 3*time.Second, 3*time.Second, time.Second
	}))
	stop := make(chan struct{})
	var writers sync.WaitGroup
	writers.Go(func() { checkins(database, 1, stop) })
	for i := range 12 {
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
		if i%4 == 3 {
			n.swallow.Store(true)
			time.Sleep(200 * time.Millisecond)
			n.swallow.Store(false)
		} else {
			n.drop(0.5)
		}
	}
	close(stop)
	writers.Wait()
	n.slow.Store(false)
	waitFor(t, "the rest of the work", func() bool {
		return one[int](t, c, "select (select count(*) from alike.queue) + (select count(*) from alike.chunk) + (select count(*) from alike.error) + (select count(*) from alike.backfill where finished_at is null)") == 0
	})
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
}

// Seventy busy clients, beside idle ones, leave the worker the connections that it
// has. ALIKE_IDLE is how many are idle.
func TestManyClients(t *testing.T) {
	idle := 20
	fmt.Sscan(os.Getenv("ALIKE_IDLE"), &idle)
	s := pgtest.New(t, pgtest.Version(), fmt.Sprintf("max_connections=%d", 130+idle), "shared_buffers=128MB")
	database := s.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "select alike.attach('documents', 'body')")
	for range idle {
		pgtest.Connect(t, database)
	}
	run(t, newWorker(t, database, nil))
	var clients sync.WaitGroup
	start := time.Now()
	for i := range 70 {
		clients.Go(func() {
			client, err := pgx.Connect(ctx, database)
			if err != nil {
				t.Error(err)
				return
			}
			defer client.Close(ctx)
			for j := range 2 {
				if _, err := client.Exec(ctx, "insert into documents values ($1, 'words of a busy client that checks in')", i*10+j); err != nil {
					t.Error(err)
				}
				if _, err := client.Exec(ctx, "select * from alike.status()"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	clients.Wait()
	waitFor(t, "their rows", func() bool { return count(t, c, "documents_alike") == 140 })
	t.Logf("%d idle and 70 busy clients: 140 checkins, each with a look at the status, in %.1f s", idle, time.Since(start).Seconds())
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
}

// Many entries go through the queue, most of them for rows that others name too, and
// leave it small. ALIKE_ENTRIES makes it long.
func TestManyEntries(t *testing.T) {
	entries := 50_000
	fmt.Sscan(os.Getenv("ALIKE_ENTRIES"), &entries)
	s := pgtest.New(t, pgtest.Version(), "shared_buffers=256MB", "max_wal_size=4GB")
	database := s.Database(t)
	c := pgtest.Connect(t, database)
	exec(t, c, "create table documents (id bigint primary key, body text)")
	exec(t, c, "select alike.attach('documents', 'body')")
	w := newWorker(t, database, func(c *Config) { c.Lanes, c.BatchSize = 2, MaxBatchSize })
	once(t, w)
	exec(t, c, "set session_replication_role = replica; insert into documents select g, "+words+" from generate_series(1, 2000) as g; reset session_replication_role")
	exec(t, c, "insert into alike.queue (attachment, key) select a.id, (1 + g % 2000)::text from alike.attachment a, generate_series(1, $1::int) as g", entries)
	start := time.Now()
	run(t, w)
	waitFor(t, "the queue to be empty", func() bool { return !one[bool](t, c, "select exists (select from alike.queue)") })
	t.Logf("%.0f entries a second", float64(entries)/time.Since(start).Seconds())
	checkSide(t, c, "documents", "documents", "body", "id::text", "true")
	exec(t, c, "vacuum alike.queue")
	if bytes := one[int64](t, c, "select pg_total_relation_size('alike.queue')"); bytes > int64(entries)*40 {
		t.Errorf("the queue takes %d bytes when it is empty, want at most %d", bytes, entries*40)
	}
}
