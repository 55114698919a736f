package worker

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	process "os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/alike-sql/alike/migrations/pgtest"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/cluster"
)

var (
	modelSeed     = flag.Uint64("seed", 1, "where the numbers of the model test begin; round n has seed+n")
	modelKills    = flag.Int("kills", 8, "how often the model test kills something on each release of PostgreSQL")
	modelVersions = flag.String("versions", "13,15,18", "the releases on which the model test runs")
)

const killsOfRound = 8

// A modelKind is a kind of table. Its statements say {t} for the table, {key} for a
// key and {body} for a document.
type modelKind struct {
	name    string
	table   string // as SQL spells it
	columns string // of the key
	more    string // after the columns
	setup   string
	keys    []string
	types   []string
	value   func(n int) []string // spellings of the n-th key
	body    string               // the column
	typed   string               // its type
	text    string               // makes a document of the text %s
	options string
	where   string // which rows are attached
	through string // another table through which its rows can be written
	// What is not asked of it.
	unsaid  bool // a row that moves loses its verdicts
	scanned bool // what changes and changes back is not seen, nor that another row has taken a key
	plain   bool // ON CONFLICT does not work
}

func spelled(formats ...string) func(int) []string {
	return func(n int) []string {
		list := make([]string, len(formats))
		for i, f := range formats {
			list[i] = strings.ReplaceAll(f, "#", fmt.Sprint(n))
		}
		return list
	}
}

var hostileKeys = []string{`''`, `'it''s'`, `E'back\\slash'`, `'%s %1$s {key}'`, `'["a", 1]'`, `'null'`, `' '`, `'ÄÖÜ'`, `'"'`, `'a'`, `'A'`, `E'\n'`, `'$1'`, `'é'`, `E'e\u0301'`}

var modelKinds = []modelKind{
	{name: "int", columns: "id int primary key", keys: []string{"id"}, types: []string{"int"}, value: spelled("#")},
	{name: "deferrable", columns: "id bigint primary key deferrable initially deferred", keys: []string{"id"}, types: []string{"bigint"}, value: spelled("#", "(# + 0)"), plain: true},
	{name: "uuid", columns: "id uuid primary key", keys: []string{"id"}, types: []string{"uuid"},
		value: spelled("'00000000-0000-4000-8000-00000000abc#'::uuid", "'{00000000-0000-4000-8000-00000000ABC#}'::uuid")},
	{name: "text", columns: "id text primary key", keys: []string{"id"}, types: []string{"text"},
		value: func(n int) []string { return []string{hostileKeys[n%len(hostileKeys)]} }, options: `"si": ["length", "forest/0"]`},
	{name: "timestamptz", columns: "id timestamptz primary key", keys: []string{"id"}, types: []string{"timestamptz"},
		value: spelled("'2024-03-31 01:#:00.25+00'::timestamptz", "'2024-03-30 20:#:00.25-05'::timestamptz", "'2024-03-31 01:#:00.250'::timestamp at time zone 'UTC'")},
	{name: "numeric", columns: "id numeric primary key", keys: []string{"id"}, types: []string{"numeric"}, value: spelled("#.5", "#.50", "#.500000")},
	{name: "composite", columns: `"The a" int, b timestamptz, primary key (b, "The a")`, keys: []string{"b", `"The a"`}, types: []string{"timestamptz", "int"},
		value: spelled("'2024-01-01 00:00:0#+00'::timestamptz, #", "'2024-01-01 01:00:0#+01'::timestamptz, #")},
	{name: "partitioned", columns: "id int, p int, primary key (id, p)", more: " partition by list (p)", keys: []string{"id", "p"}, types: []string{"int", "int"},
		setup:  "create table {t}_0 partition of {t} for values in (0); create table {t}_1 partition of {t} for values in (1); create table {t}_more partition of {t} default",
		value:  func(n int) []string { return []string{fmt.Sprintf("%d, %d", n, n%4)} },
		unsaid: true},
	{name: "rls", columns: "id int primary key", keys: []string{"id"}, types: []string{"int"}, value: spelled("#"),
		setup: "alter table {t} enable row level security; create policy shown on {t} to model_writer using (note is distinct from 'hidden')"},
	{name: "where", columns: "id int primary key", keys: []string{"id"}, types: []string{"int"}, value: spelled("#"), where: "note <> 'hidden'", options: `"where": "note <> 'hidden'"`},
	{name: "unlogged", columns: "id varchar(9) primary key", keys: []string{"id"}, types: []string{"varchar"}, value: spelled("'k#'")},
	{name: "float", columns: "id float8 primary key", keys: []string{"id"}, types: []string{"float8"}, value: spelled("# + 0.1::float8 + 0.2::float8", "# + 0.1::float8 + 2e-1::float8")},
	{name: "inherited", columns: "primary key (id)", more: " inherits (model_parent)", keys: []string{"id"}, types: []string{"int"}, value: spelled("#"), through: "model_parent", typed: "-"},
	{name: "jsonb", columns: "id date primary key", keys: []string{"id"}, types: []string{"date"}, value: spelled("'2024-02-28'::date + #"),
		typed: "jsonb", text: "jsonb_build_object('text', %s, 'n', 1.0)"},
	{name: "scan", columns: "id bytea primary key", keys: []string{"id"}, types: []string{"bytea"}, value: spelled(`'\x00ff0#'::bytea`), options: `"mode": "scan"`,
		typed: "bytea", text: `convert_to(%s, 'UTF8')`, scanned: true},
	{name: "odd names", table: `"Odd %I"."we""ird %s"`, columns: `"the 'id' %s" int primary key`, keys: []string{`"the 'id' %s"`}, types: []string{"int"}, value: spelled("#"), body: `"The {body}"`},
	{name: "padded", columns: "id char(6) primary key", keys: []string{"id"}, types: []string{"bpchar"}, value: spelled("'k#'", "'k#  '")},
	{name: "few matches", columns: "id interval primary key", keys: []string{"id"}, types: []string{"interval"}, value: spelled("interval '# hours'", "interval 'PT#H'"), options: `"matches": 2`},
}

// modelTable is a table of the model, and what should be known of it.
type modelTable struct {
	*modelKind
	name   string // the attachment's
	policy string
	lock   sync.RWMutex // writers share it; who renames things has it alone
	said   map[[2]int64]string
	log    []string
	logged sync.Mutex
}

type model struct {
	t        *testing.T
	server   *pgtest.Server
	database string // its superuser's URL
	network  *network
	url      string // the worker's, through the network
	admin    *pgx.Conn
	tables   []*modelTable
	seed     uint64
	filled   bool // before the round
	random   *rand.Rand
	failed   atomic.Pointer[string]
}

// Random statements of several sessions at many kinds of tables, while workers and
// sessions are killed; then everything that is kept is compared with brute force. With
// more kills than a round has the server is killed, too. Changes of the profile, refresh and
// subscriptions are not among the statements (TestChangeProfile, TestCrashDuringMerge and
// TestLogicalReplication try them):
//
//	go test -run '^TestModel$' ./pgworker/worker -args -kills 334
func TestModel(t *testing.T) {
	versions := strings.Split(*modelVersions, ",")
	for i, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			var number int
			if _, err := fmt.Sscan(version, &number); err != nil {
				t.Fatal(err)
			}
			kinds := modelKinds
			if *modelKills <= killsOfRound { // each release has its share
				kinds = nil
				for j, kind := range modelKinds {
					if j%len(versions) == i {
						kinds = append(kinds, kind)
					}
				}
			}
			m := newModel(t, number, kinds)
			for done := 0; done < *modelKills; done += killsOfRound {
				m.filled = *modelKills <= killsOfRound || done > 0
				m.round(*modelSeed + uint64(done/killsOfRound))
			}
		})
	}
}

func newModel(t *testing.T, version int, kinds []modelKind) *model {
	m := &model{t: t, random: rand.New(rand.NewPCG(*modelSeed, 0))}
	if *modelKills > killsOfRound {
		m.server = pgtest.New(t, version, "fsync=on", "synchronous_commit=off", "deadlock_timeout=200ms", "max_prepared_transactions=10")
	} else {
		m.server = pgtest.Shared(t, version)
	}
	m.database = m.server.Database(t)
	m.network, m.url = before(t, m.server.URL("model_worker", pathOf(m.database)))
	m.connect()
	exec(t, m.admin, `do $$
		begin
			perform pg_advisory_xact_lock(1);
			if to_regrole('model_owner') is null then
				create role model_owner;
				create role model_worker login;
				create role model_writer login;
				grant model_owner, alike_worker to model_worker;
				grant alike_admin to model_owner;
			end if;
		end $$`)
	exec(t, m.admin, `create schema model; create schema "Odd %I"; grant usage on schema "Odd %I", public to model_writer; grant usage, create on schema "Odd %I", public to model_owner;
		alter default privileges grant select, insert, update, delete, truncate on tables to model_writer;
		create sequence model.uids;
		create table model.touched (name text, uid bigint, primary key (name, uid));
		create table model.moved (name text, uid bigint, primary key (name, uid));
		create function model.uid() returns bigint language sql security definer as 'select nextval(''model.uids'')';
		grant usage on schema model to public;
		-- Arguments: the name, the document's column, the columns of the key.
		create function model.note() returns trigger language plpgsql security definer as $$
		declare
			moved boolean := tg_op = 'DELETE';
		begin
			if tg_op = 'UPDATE' then
				for i in 2 .. tg_nargs - 1 loop
					moved := moved or to_jsonb(new) -> tg_argv[i] <> to_jsonb(old) -> tg_argv[i];
				end loop;
			end if;
			if moved then
				insert into model.moved values (tg_argv[0], old.uid) on conflict do nothing;
			end if;
			if tg_op = 'INSERT' or tg_op = 'UPDATE' and (moved or (to_jsonb(new) ->> tg_argv[1]) is distinct from (to_jsonb(old) ->> tg_argv[1])) then
				insert into model.touched values (tg_argv[0], new.uid) on conflict do nothing;
			end if;
			return null;
		end $$;
		create table model_parent (id int, body text, uid bigint not null default model.uid(), note text);
		grant select, insert, update, delete, truncate on model_parent to model_writer;
		alter table model_parent owner to model_owner`)
	exec(t, m.admin, "create or replace function alike._part_rows() returns integer language sql immutable set search_path = pg_catalog, pg_temp as 'select 20'")
	for _, kind := range kinds {
		tb := &modelTable{modelKind: &kind, name: strings.ReplaceAll(kind.name, " ", "_"), said: map[[2]int64]string{}}
		tb.policy = []string{"ignore", "link", "warn", "reject"}[m.random.IntN(4)]
		if kind.table == "" {
			kind.table = strings.ReplaceAll(kind.name, " ", "_") + "_rows"
		}
		kind.body = cmpOr(kind.body, "body")
		kind.typed, kind.text = cmpOr(kind.typed, "text"), cmpOr(kind.text, "%s")
		columns := kind.columns + ", " + kind.body + " " + kind.typed + ", uid bigint not null default model.uid(), note text"
		if kind.typed == "-" {
			columns = kind.columns
		}
		unlogged := ""
		if kind.name == "unlogged" {
			unlogged = "unlogged "
		}
		exec(t, m.admin, "create "+unlogged+"table "+kind.table+" ("+columns+")"+kind.more)
		exec(t, m.admin, "alter table "+kind.table+" owner to model_owner; grant select, insert, update, delete, truncate on "+kind.table+" to model_writer")
		if kind.setup != "" {
			exec(t, m.admin, "set role model_owner; "+strings.ReplaceAll(kind.setup, "{t}", kind.table)+"; reset role")
		}
		arguments := []string{quote(tb.name), quote(unquoted(kind.body))}
		for _, k := range kind.keys {
			arguments = append(arguments, quote(unquoted(k)))
		}
		exec(t, m.admin, "create trigger a_note after insert or update or delete on "+kind.table+" for each row execute function model.note("+strings.Join(arguments, ", ")+")")
		m.tables = append(m.tables, tb)
		s := &session{m: m, random: m.random}
		for range m.random.IntN(6) {
			m.admin.Exec(ctx, s.insert(tb)) // one whose key is taken is none
		}
		m.attach(tb)
	}
	if *modelKills <= killsOfRound { // otherwise workers are killed while they fill the side tables
		once(t, newWorker(t, m.url, quietly))
	}
	exec(t, m.admin, "truncate model.touched") // rows that were there before were not checked in
	return m
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func unquoted(name string) string {
	if strings.HasPrefix(name, `"`) {
		return strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
	}
	return name
}

func (m *model) connect() {
	if m.admin != nil {
		m.admin.Close(ctx)
	}
	m.admin = pgtest.Connect(m.t, m.database+"&application_name=model+admin&timezone=UTC&datestyle=ISO&search_path=public&synchronous_commit=on")
}

// attach gives a table its aspect, as its owner.
func (m *model) attach(tb *modelTable) {
	layout := []string{"columns", "parts"}[m.random.IntN(2)]
	options := fmt.Sprintf(`{"name": "%s", "policy": "%s", "matches": 100, "layout": "%s"`, tb.name, tb.policy, layout)
	if tb.options != "" {
		options += ", " + tb.options
	}
	exec(m.t, m.admin, "set role model_owner")
	exec(m.t, m.admin, "select alike.attach($1, $2, $3::jsonb)", tb.table, unquoted(tb.body), options+"}")
	exec(m.t, m.admin, "reset role")
}

// quietly: what fails is in alike.error.
func quietly(c *Config) { c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil)) }

// A session writes.
type session struct {
	m      *model
	random *rand.Rand
	number int
	c      *pgx.Conn

	prepares int
	prepared string // the transaction that it has prepared, and not ended
}

func (s *session) pick(list ...string) string { return list[s.random.IntN(len(list))] }

func (s *session) chance(of int) bool { return s.random.IntN(of) == 0 }

func (s *session) key(tb *modelTable) string { return "(" + s.keyList(tb) + ")" }

func (s *session) keyList(tb *modelTable) string { return s.pick(tb.value(s.random.IntN(9) + 1)...) }

func (tb *modelTable) keyColumns() string { return strings.Join(tb.keys, ", ") }

var modelText = strings.Fields("the quick brown fox jumps over the lazy dog again and again until somebody comes along who has seen enough of it and closes the door for good")

// document is an SQL expression: one of three texts, with some words changed, or an
// odd one.
func (s *session) document(tb *modelTable) string {
	if s.chance(8) {
		if s.chance(20) {
			return fmt.Sprintf(tb.text, "repeat('a long text ', 100000)")
		}
		return s.pick("null", fmt.Sprintf(tb.text, "''"), fmt.Sprintf(tb.text, "'...'"), fmt.Sprintf(tb.text, "'one'"))
	}
	words := slices.Clone(modelText)
	family := s.random.IntN(3)
	for i := range words {
		words[i] = strings.Repeat("x", family) + words[i]
	}
	for range s.random.IntN(5) * s.random.IntN(3) {
		words[s.random.IntN(len(words))] = fmt.Sprint("w", s.random.IntN(50))
	}
	return fmt.Sprintf(tb.text, quote(strings.Join(words, " ")))
}

func (s *session) row(tb *modelTable) string {
	return fmt.Sprintf("(%s, %s, %s)", s.keyList(tb), s.document(tb), s.pick("null", "'a'", "'b'", "'hidden'"))
}

func (s *session) insert(tb *modelTable) string {
	rows := s.row(tb)
	for s.chance(3) {
		rows += ", " + s.row(tb)
	}
	return fmt.Sprintf("insert into %s (%s, %s, note) values %s", tb.table, tb.keyColumns(), tb.body, rows)
}

func (s *session) statement(tb *modelTable) string {
	t, keys, body := tb.table, tb.keyColumns(), tb.body
	if tb.through != "" && s.chance(2) {
		t = tb.through
	}
	where := s.pick(fmt.Sprintf("(%s) = %s", keys, s.key(tb)), fmt.Sprintf("(%s) = %s", keys, s.key(tb)), fmt.Sprintf("uid %% 3 = %d", s.random.IntN(3)), fmt.Sprintf("(%s) > %s", keys, s.key(tb)))
	switch s.random.IntN(18) {
	case 0, 1, 2:
		return s.insert(tb)
	case 3, 4, 5:
		if tb.plain {
			return s.insert(tb)
		}
		return s.insert(tb) + s.pick(" on conflict do nothing", fmt.Sprintf(" on conflict (%s) do update set %s = excluded.%[2]s", keys, body), fmt.Sprintf(" on conflict (%s) do update set note = excluded.note", keys))
	case 6, 7, 8:
		return fmt.Sprintf("update %s set %s = %s where %s", t, body, s.document(tb), where)
	case 9:
		return fmt.Sprintf("update %s set note = %s where %s", t, s.pick("null", "'a'", "'hidden'"), where)
	case 10, 11:
		return fmt.Sprintf("update %s set (%s) = row %s where (%[2]s) = %[4]s", t, keys, s.key(tb), s.key(tb))
	case 12:
		return fmt.Sprintf("update %s set (%s) = row %s, %s = %s where (%[2]s) = %[6]s", t, keys, s.key(tb), body, s.document(tb), s.key(tb))
	case 13, 14:
		return fmt.Sprintf("delete from %s where %s", t, where)
	case 15: // one statement that does several things
		return fmt.Sprintf("with gone as (delete from %s where %s returning %s as d) insert into %[1]s (%[4]s, %[3]s) select %[5]s, min(d::text)::%[6]s from gone having count(*) > 0",
			tb.table, where, body, keys, s.keyList(tb), cmpOr(strings.Trim(tb.typed, "-"), "text"))
	case 16:
		if len(tb.keys) == 1 && (tb.types[0] == "int" || tb.types[0] == "bigint") && tb.plain { // rows change places
			return fmt.Sprintf("update %s set %s = case %[2]s when 1 then 2 else 1 end where %[2]s in (1, 2)", t, keys)
		}
		return fmt.Sprintf("update %s set %s = %[2]s, note = 'b' where %[3]s", t, body, where)
	default:
		if s.chance(4) {
			return "truncate " + t
		}
		return fmt.Sprintf("update %s set %s = null where %s", t, body, where)
	}
}

// ours reports errors that no session of an application should meet.
func ours(err error) bool {
	var pg *pgconn.PgError
	if err == nil || !errors.As(err, &pg) {
		return false // the connection was cut
	}
	switch pg.Code {
	case "23505", "40001", "40P01", "42501", "21000", "25P02", "25006", "57P01", "57P02", "57P03", "57014", "53300",
		"42704", "55000", // what was prepared has ended
		"55006": // TRUNCATE has to wait for a deferred constraint
		return strings.Contains(pg.Message, "alike")
	}
	return true
}

func (tb *modelTable) note(format string, args ...any) {
	tb.logged.Lock()
	defer tb.logged.Unlock()
	tb.log = append(tb.log, fmt.Sprintf(format, args...))
}

func (m *model) fail(tb *modelTable, format string, args ...any) {
	tb.logged.Lock()
	defer tb.logged.Unlock()
	text := fmt.Sprintf(format, args...) + "\n\nafter\n" + strings.Join(tb.log[max(0, len(tb.log)-400):], "\n")
	m.failed.CompareAndSwap(nil, &text)
}

// run writes until stopped.
func (s *session) run(stop <-chan struct{}) {
	defer func() {
		if s.c != nil {
			s.c.Close(ctx)
		}
	}()
	for {
		select {
		case <-stop:
			return
		default:
		}
		if s.c == nil || s.c.IsClosed() {
			if !s.connect() {
				time.Sleep(20 * time.Millisecond)
			}
			continue
		}
		s.transaction(s.m.tables[s.random.IntN(len(s.m.tables))])
	}
}

func (s *session) connect() bool {
	role := s.pick("model_writer", "postgres")
	if s.prepared != "" {
		role = "postgres" // who may end it
	}
	config, err := pgx.ParseConfig(strings.Replace(s.m.url, "model_worker", role, 1))
	if err != nil {
		s.m.t.Error(err)
		return false
	}
	for name, value := range map[string]string{"application_name": "model writer", "timezone": s.pick("UTC", "America/New_York", "Asia/Kolkata"), "datestyle": s.pick("ISO", "German", "SQL, DMY"),
		"extra_float_digits": s.pick("0", "1", "-3"), "intervalstyle": s.pick("postgres", "iso_8601"), "bytea_output": s.pick("hex", "escape"), "search_path": "public"} {
		config.RuntimeParams[name] = value
	}
	var last atomic.Pointer[modelTable]
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if strings.Contains(n.Message, "alike") && n.Severity == "WARNING" {
			tb := s.m.tables[0]
			if last.Load() != nil {
				tb = last.Load()
			}
			s.m.fail(tb, "session %d was warned: %s", s.number, n.Message)
		}
	}
	s.c, err = pgx.ConnectConfig(ctx, config)
	if err != nil {
		s.c = nil
		return false
	}
	if s.prepared != "" {
		s.c.Exec(ctx, "commit prepared "+s.prepared) // unless it never came to that
		s.prepared = ""
	}
	return true
}

func pathOf(database string) string {
	config, err := pgx.ParseConfig(database)
	if err != nil {
		return ""
	}
	return config.Database
}

// transaction does one to four statements with a table.
func (s *session) transaction(tb *modelTable) {
	tb.lock.RLock()
	defer tb.lock.RUnlock()
	do := func(sql string) error {
		_, err := s.c.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		short := sql
		if len(short) > 300 {
			short = short[:300] + "…"
		}
		if err != nil {
			tb.note("%d: %s -- %v", s.number, short, err)
		} else {
			tb.note("%d: %s;", s.number, short)
		}
		if ours(err) && s.m.failed.Load() == nil {
			s.m.fail(tb, "session %d: %s: %v", s.number, short, err)
		}
		return err
	}
	if s.chance(2) {
		do(s.statement(tb))
		return
	}
	if do("begin isolation level "+s.pick("read committed", "read committed", "repeatable read", "serializable")) != nil {
		return
	}
	for range s.random.IntN(4) + 1 {
		saved := s.chance(3)
		if saved {
			do("savepoint s")
		}
		err := do(s.statement(tb))
		if saved && (err != nil || s.chance(3)) {
			err = do("rollback to s")
		}
		if err != nil {
			break
		}
		if s.chance(4) {
			time.Sleep(time.Duration(s.random.IntN(20)) * time.Millisecond)
		}
	}
	if s.c.IsClosed() {
		return
	}
	if s.chance(4) {
		do("rollback")
	} else if *modelKills > killsOfRound && s.chance(6) {
		s.prepares++
		s.prepared = quote(fmt.Sprint("model ", s.number, " ", s.prepares))
		if do("prepare transaction "+s.prepared) == nil {
			do(s.pick("commit prepared ", "commit prepared ", "rollback prepared ") + s.prepared)
		}
		if !s.c.IsClosed() {
			s.prepared = ""
		}
	} else {
		do("commit")
	}
}

// round writes and kills for a while, lets the workers finish, and compares.
func (m *model) round(seed uint64) {
	m.t.Helper()
	m.seed, m.random = seed, rand.New(rand.NewPCG(seed, 1))
	for _, tb := range m.tables {
		tb.log = nil
	}
	exec(m.t, m.admin, "truncate model.moved")
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range 3 {
		s := &session{m: m, number: i, random: rand.New(rand.NewPCG(seed, 10+uint64(i)))}
		writers.Go(func() { s.run(stop) })
	}
	workers := []*process.Cmd{startWorker(m.t, m.url), startWorker(m.t, m.url)}
	for range killsOfRound {
		time.Sleep(time.Duration(20+m.random.IntN(160)) * time.Millisecond)
		if m.random.IntN(2) == 0 {
			m.change(m.tables[m.random.IntN(len(m.tables))])
		}
		m.kill(workers)
		if m.failed.Load() != nil {
			break
		}
	}
	close(stop)
	ended := make(chan struct{})
	go func() { writers.Wait(); close(ended) }()
	for wait := true; wait; { // what a session was cut off from holds up the others
		select {
		case <-ended:
			wait = false
		case <-time.After(50 * time.Millisecond):
		}
		m.endPrepared()
	}
	for _, w := range workers {
		kill(w)
	}
	m.network.slow.Store(false)
	m.check()
	if text := m.failed.Load(); text != nil {
		m.t.Fatalf("%s\n\nagain: go test -run 'TestModel$' ./pgworker/worker -args -seed %d -versions %d", *text, seed, m.server.Version)
	}
}

// kill kills something.
func (m *model) kill(workers []*process.Cmd) {
	m.t.Helper()
	terminate := func(who string) {
		exec(m.t, m.admin, "select "+[]string{"pg_terminate_backend", "pg_terminate_backend", "pg_cancel_backend"}[m.random.IntN(3)]+
			"(pid) from pg_stat_activity where datname = current_database() and application_name = $1 order by random() limit 2", who)
	}
	switch m.random.IntN(7) {
	case 0:
		terminate("alike worker")
	case 1:
		terminate("model writer")
	case 6: // the network delays, and cuts what is on its way
		m.network.slow.Store(!m.network.slow.Load())
		m.network.drop(0.5)
	case 2:
		if m.random.IntN(4) > 0 {
			terminate("alike worker")
			break
		}
		hang(m.t, m.admin, workers[0])
	case 3:
		if *modelKills > killsOfRound {
			m.admin.Close(ctx)
			if err := m.server.Kill(); err != nil {
				m.t.Fatal(err)
			}
			if err := m.server.Start(); err != nil {
				m.t.Fatal(err)
			}
			m.connect()
			for _, tb := range m.tables {
				tb.note("-- the server was killed")
			}
			break
		}
		fallthrough
	default:
		i := m.random.IntN(2)
		kill(workers[i])
		workers[i] = startWorker(m.t, m.url)
	}
}

// endPrepared commits what sessions have prepared and were cut off from.
func (m *model) endPrepared() {
	m.t.Helper()
	for _, id := range collect(m.t, m.admin, "select gid from pg_prepared_xacts where database = current_database()") {
		m.admin.Exec(ctx, "commit prepared "+quote(id)) // unless its session has just done so
	}
}

func collect(t testing.TB, c *pgx.Conn, sql string, args ...any) []string {
	t.Helper()
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return list
}

// change is what an administrator does, or a person who says what he thinks of two rows.
func (m *model) change(tb *modelTable) {
	m.t.Helper()
	tb.lock.Lock()
	defer tb.lock.Unlock()
	what := m.random.IntN(6)
	if tb.scanned {
		what %= 2
	}
	switch what {
	case 0:
		tb.note("-- refresh")
		exec(m.t, m.admin, "select alike.refresh($1)", tb.name)
	case 1:
		tb.note("-- write_clusters")
		exec(m.t, m.admin, "select alike.write_clusters($1)", tb.name)
	default:
		m.mark(tb)
	}
}

// mark gives a verdict on two rows that the worker has seen.
func (m *model) mark(tb *modelTable) {
	m.t.Helper()
	rows := m.rows(tb)
	rows = slices.DeleteFunc(rows, func(r modelRow) bool { return !r.attached || r.stored == "" })
	if len(rows) < 2 {
		return
	}
	m.random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	x, y := rows[0], rows[1]
	verdict := []string{"duplicate", "distinct"}[m.random.IntN(2)]
	tb.note("-- %s is %s of %s (%d, %d)", x.key, verdict, y.key, x.uid, y.uid)
	exec(m.t, m.admin, "select alike.mark($1, $2, $3, $4)", tb.name, x.key, y.key, verdict)
	tb.said[[2]int64{min(x.uid, y.uid), max(x.uid, y.uid)}] = verdict
}

// modelRow is a row of a table with what is stored of it, either of which may be missing.
type modelRow struct {
	uid      int64 // 0 without a row
	key      string
	doc      []byte
	attached bool
	stored   string // the side row's numbers, as freshly computed ones are written
	sketch   []byte // what it should be
	features []sketch.Feature
}

func (tb *modelTable) join(a, b string, prefix string) string {
	var list []string
	for _, k := range tb.keys {
		other := k
		if prefix != "" {
			other = "other"
			if len(tb.keys) > 1 {
				other = pgx.Identifier{"other_" + unquoted(k)}.Sanitize()
			}
		}
		list = append(list, fmt.Sprintf("%s.%s = %s.%s", a, k, b, other))
	}
	return strings.Join(list, " and ")
}

// keyText is a key as text, as people and answers write it.
func (tb *modelTable) keyText(alias string) string {
	if len(tb.keys) == 1 {
		return alias + "." + tb.keys[0] + "::text"
	}
	return "jsonb_build_array(" + alias + "." + strings.Join(tb.keys, ", "+alias+".") + ")::text"
}

// is says that the row d has the key that column has as text.
func (tb *modelTable) is(column string) string {
	if len(tb.keys) == 1 {
		return fmt.Sprintf("d.%s = %s::%s", tb.keys[0], column, tb.types[0])
	}
	var list []string
	for i, k := range tb.keys {
		list = append(list, fmt.Sprintf("d.%s = (%s::jsonb ->> %d)::%s", k, column, i, tb.types[i]))
	}
	return strings.Join(list, " and ")
}

// ofSide is one of the tables that attach made.
func (m *model) ofSide(tb *modelTable, suffix string) string {
	return one[string](m.t, m.admin, "select format('%I.%I', side_schema, side_name || $2::text) from alike.attachment where name = $1 and replaces is null", tb.name, suffix)
}

// rows reads a table and its side table.
func (m *model) rows(tb *modelTable) []modelRow {
	m.t.Helper()
	settings, variants := profileOf(m.t, m.admin, tb.name)
	fresh, columns := freshly(m.t, settings, variants)
	doc := "convert_to(d." + tb.body + "::text, 'UTF8')"
	if tb.typed == "bytea" {
		doc = "d." + tb.body
	}
	only := "only "
	if tb.name == "partitioned" {
		only = ""
	}
	rows, err := m.admin.Query(ctx, fmt.Sprintf(`select coalesce(d.uid, 0), coalesce(%s, %s), %s, coalesce((%s), false) and d.uid is not null,
			case when s.profile is not null then s.content_hash || ' ' || s.shingles || ' ' || coalesce(encode(s.sketch, 'hex'), '') || ' ' || json_build_array(%s)::text else '' end
		from (select * from %s%s t) d full join %s s on %s order by 1, 2`,
		tb.keyText("d"), tb.keyText("s"), doc, strings.ReplaceAll(cmpOr(tb.where, "true"), "note", "d.note"), columns, only, tb.table, m.ofSide(tb, ""), tb.join("d", "s", "")))
	if err != nil {
		m.t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r modelRow, err error) {
		if err := row.Scan(&r.uid, &r.key, &r.doc, &r.attached, &r.stored); err != nil {
			return r, err
		}
		if r.attached {
			_, r.sketch, r.features = fresh(r.doc)
		}
		return r, nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return list
}

// check lets a worker finish and compares everything.
func (m *model) check() {
	m.t.Helper()
	w := newWorker(m.t, m.url, func(c *Config) {
		quietly(c)
		c.AllowSuperuser, c.ScanInterval = false, time.Millisecond
	})
	defer w.Close()
	for turn := 0; ; turn++ {
		if err := w.Once(ctx); err != nil {
			m.fail(m.tables[0], "the worker: %v", err)
			return
		}
		// A worker that was killed has left slow documents behind; their time passes.
		exec(m.t, m.admin, "update alike.extraction set taken_until = clock_timestamp() - interval '1 second'; update alike.error set retry_at = clock_timestamp()")
		if err := w.retryDue(ctx); err != nil {
			m.t.Fatal(err)
		}
		if turn > 0 && one[int](m.t, m.admin, "select (select count(*) from alike.queue) + (select count(*) from alike.extraction) + (select count(*) from alike.chunk) + (select count(*) from alike.error) + (select count(*) from alike.backfill where finished_at is null)") == 0 {
			break
		}
		if turn == 50 {
			left := collect(m.t, m.admin, "select a.name || ': ' || e.key || ': ' || e.message from alike.error e join alike.attachment a on a.id = e.attachment")
			m.fail(m.tables[0], "the worker never finishes: %s", strings.Join(left, "; "))
			return
		}
	}
	for _, tb := range m.tables {
		m.compare(tb)
	}
	for _, note := range collect(m.t, m.admin, "select name || ': ' || note from alike.status() where note is not null") {
		m.fail(m.tables[0], "status says %s", note)
	}
}

type modelPair struct {
	x, y        int64 // x is less, by uid
	shared      int
	resemblance float64
}

// compare looks at one table.
func (m *model) compare(tb *modelTable) {
	m.t.Helper()
	settings, variants := profileOf(m.t, m.admin, tb.name)
	fresh, _ := freshly(m.t, settings, variants)
	atLeast := one[float64](m.t, m.admin, "select at_least from alike.attachment where name = $1 and replaces is null", tb.name)
	rows := m.rows(tb)
	byUID := map[int64]*modelRow{}
	for i, r := range rows {
		want := ""
		if r.attached {
			want, _, _ = fresh(r.doc)
		}
		if r.stored != want {
			m.fail(tb, "%s: the side row of %s (row %d) is\n%q, want\n%q", tb.name, r.key, r.uid, r.stored, want)
			return
		}
		if r.attached {
			byUID[r.uid] = &rows[i]
		}
	}
	var alike []modelPair // all pairs, by brute force
	for _, x := range byUID {
		for _, y := range byUID {
			if x.uid >= y.uid || len(x.features) == 0 || len(y.features) == 0 {
				continue
			}
			p := modelPair{x: x.uid, y: y.uid}
			for _, f := range x.features {
				if slices.Contains(y.features, f) {
					p.shared++
				}
			}
			var err error
			if p.resemblance, err = sketch.Resemblance(x.sketch, y.sketch); err != nil {
				m.t.Fatal(err)
			}
			alike = append(alike, p)
		}
	}
	m.compareMarks(tb, rows)
	m.compareAnswers(tb, byUID, alike, atLeast)
	m.compareMatches(tb, byUID, alike, atLeast)
	m.compareKept(tb)
}

// compareMarks: every verdict was given on two rows that are there, and none
// of those is missing but where both rows moved at once.
func (m *model) compareMarks(tb *modelTable, rows []modelRow) {
	m.t.Helper()
	there := map[int64]bool{}
	for _, r := range rows {
		there[r.uid] = there[r.uid] || r.uid != 0
	}
	moved := map[int64]bool{}
	for _, uid := range collectInts(m.t, m.admin, "select uid from model.moved where name = $1", tb.name) {
		moved[uid] = true
	}
	got := map[[2]int64]string{}
	var x, y *int64
	var verdict, keys string
	list, err := m.admin.Query(ctx, fmt.Sprintf("select d.uid, e.uid, m.verdict, %s from %s m left join %s d on %s left join %[3]s e on %[5]s",
		tb.keyText("m"), m.ofSide(tb, "_mark"), tb.table, tb.join("d", "m", ""), tb.join("e", "m", "other")))
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := pgx.ForEachRow(list, []any{&x, &y, &verdict, &keys}, func() error {
		if x == nil || y == nil {
			m.fail(tb, "%s: a verdict on rows that are not there, %s", tb.name, keys)
			return nil
		}
		pair := [2]int64{min(*x, *y), max(*x, *y)}
		if tb.said[pair] != verdict {
			m.fail(tb, "%s: the rows %d are called %q, which is not what was said: %q", tb.name, pair, verdict, tb.said[pair])
		}
		got[pair] = verdict
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
	for pair, verdict := range tb.said {
		if !there[pair[0]] || !there[pair[1]] {
			delete(tb.said, pair)
		} else if got[pair] == "" {
			if !(moved[pair[0]] && moved[pair[1]]) && !(tb.unsaid && (moved[pair[0]] || moved[pair[1]])) {
				m.fail(tb, "%s: the verdict %s on %d is lost", tb.name, verdict, pair)
			}
			delete(tb.said, pair)
		}
	}
}

func collectInts(t testing.TB, c *pgx.Conn, sql string, args ...any) []int64 {
	t.Helper()
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return list
}

// compareAnswers asks for pairs, rows and clusters.
func (m *model) compareAnswers(tb *modelTable, byUID map[int64]*modelRow, alike []modelPair, atLeast float64) {
	m.t.Helper()
	want := map[[2]int64]string{}
	for _, p := range alike {
		said := tb.said[[2]int64{p.x, p.y}]
		if said == "duplicate" || said == "" && p.shared > 0 && p.resemblance >= atLeast {
			want[[2]int64{p.x, p.y}] = fmt.Sprintf("%d %.9f", p.shared, p.resemblance)
		}
	}
	ask := func(sql, what string, want map[[2]int64]string, args ...any) {
		m.t.Helper()
		got := map[[2]int64]string{}
		rows, err := m.admin.Query(ctx, sql, args...)
		if err != nil {
			m.t.Fatal(err)
		}
		var x, y int64
		var shared int
		var resemblance float64
		if _, err := pgx.ForEachRow(rows, []any{&x, &y, &shared, &resemblance}, func() error {
			pair := [2]int64{min(x, y), max(x, y)}
			if got[pair] != "" {
				m.fail(tb, "%s: %s gives %d twice", tb.name, what, pair)
			}
			got[pair] = fmt.Sprintf("%d %.9f", shared, resemblance)
			return nil
		}); err != nil {
			m.fail(tb, "%s: %s: %v", tb.name, what, err)
			return
		}
		for pair, values := range want {
			if got[pair] != values {
				m.fail(tb, "%s: %s says %q of %d, want %q", tb.name, what, got[pair], pair, values)
			}
		}
		if len(got) != len(want) {
			m.fail(tb, "%s: %s gives %d pairs, want %d: %v, want %v", tb.name, what, len(got), len(want), got, want)
		}
	}
	ask(fmt.Sprintf("select d.uid, e.uid, p.shared, p.resemblance from alike.pairs($1) p join %s d on %s join %[1]s e on %[3]s", tb.table, tb.is("p.key"),
		strings.ReplaceAll(tb.is("p.other"), "d.", "e.")), "pairs", want, tb.name)
	uids := make([]int64, 0, len(byUID))
	for uid := range byUID {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	m.random.Shuffle(len(uids), func(i, j int) { uids[i], uids[j] = uids[j], uids[i] })
	for _, uid := range uids[:min(3, len(uids))] {
		ofRow := map[[2]int64]string{}
		for pair, values := range want {
			if pair[0] == uid || pair[1] == uid {
				ofRow[pair] = values
			}
		}
		ask(fmt.Sprintf("select $3::bigint, d.uid, r.shared, r.resemblance from alike.rows($1, $2) r join %s d on %s", tb.table, tb.is("r.key")), "rows of "+byUID[uid].key, ofRow, tb.name, byUID[uid].key, uid)
	}
	if m.seed%4 == 1 {
		m.compareClusters(tb, byUID, atLeast)
	}
}

// compareClusters compares with the Finder of package cluster, whose documents are
// numbered in the order of their keys.
func (m *model) compareClusters(tb *modelTable, byUID map[int64]*modelRow, atLeast float64) {
	m.t.Helper()
	uids := collectInts(m.t, m.admin, fmt.Sprintf("select d.uid from %s d order by %s", tb.table, "d."+strings.Join(tb.keys, ", d.")))
	uids = slices.DeleteFunc(uids, func(uid int64) bool { return byUID[uid] == nil || len(byUID[uid].features) == 0 })
	finder, err := cluster.New(cluster.Options{Resemblance: atLeast, Verify: func(a, b uint64) (float64, error) {
		return sketch.Resemblance(byUID[uids[a]].sketch, byUID[uids[b]].sketch)
	}})
	if err != nil {
		m.t.Fatal(err)
	}
	defer finder.Close()
	number := map[int64]uint64{}
	for i, uid := range uids {
		number[uid] = uint64(i)
		var features []int64
		for _, f := range byUID[uid].features {
			features = append(features, f.Value)
		}
		if err := finder.Add(uint64(i), features); err != nil {
			m.t.Fatal(err)
		}
	}
	for pair, verdict := range tb.said {
		x, xThere := number[pair[0]]
		y, yThere := number[pair[1]]
		if xThere && yThere {
			finder.Mark(x, y, verdict == "duplicate")
		}
	}
	want, sizes := map[int64]int64{}, map[int64]int{}
	if _, err := finder.Clusters(ctx, func(member cluster.Member) error {
		want[uids[member.ID]] = uids[member.Cluster]
		sizes[uids[member.Cluster]]++
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
	rows, err := m.admin.Query(ctx, fmt.Sprintf("select d.uid, e.uid, c.size from alike.clusters($1) c join %s d on %s join %[1]s e on %[3]s", tb.table, tb.is("c.key"), strings.ReplaceAll(tb.is("c.cluster"), "d.", "e.")), tb.name)
	if err != nil {
		m.t.Fatal(err)
	}
	var uid, of int64
	var size, n int
	if _, err := pgx.ForEachRow(rows, []any{&uid, &of, &size}, func() error {
		n++
		if want[uid] != of || sizes[of] != size {
			m.fail(tb, "%s: clusters puts row %d into that of %d, which has %d rows; want %d, %d", tb.name, uid, of, size, want[uid], sizes[want[uid]])
		}
		return nil
	}); err != nil {
		m.fail(tb, "%s: clusters: %v", tb.name, err)
	}
	clustered := 0
	for _, of := range want {
		if sizes[of] > 1 {
			clustered++
		}
	}
	if n != clustered {
		m.fail(tb, "%s: clusters gives %d rows, want %d", tb.name, n, clustered)
	}
}

// compareMatches: what is recorded is about two rows that are there, and true; and of two
// rows that resemble each other, one of which was checked in, one is recorded.
func (m *model) compareMatches(tb *modelTable, byUID map[int64]*modelRow, alike []modelPair, atLeast float64) {
	m.t.Helper()
	known := map[[2]int64]modelPair{}
	for _, p := range alike {
		known[[2]int64{p.x, p.y}] = p
	}
	rows, err := m.admin.Query(ctx, fmt.Sprintf("select coalesce(d.uid, 0), coalesce(e.uid, 0), m.shared, m.resemblance, m.omitted, %s from %s m left join %s d on %s left join %[3]s e on %[5]s",
		tb.keyText("m"), m.ofSide(tb, "_match"), tb.table, tb.join("d", "m", ""), tb.join("e", "m", "other")))
	if err != nil {
		m.t.Fatal(err)
	}
	recorded, omits, each := map[[2]int64]bool{}, map[int64]bool{}, map[int64]int{}
	var x, y int64
	var shared, omitted int
	var resemblance float64
	var key string
	if _, err := pgx.ForEachRow(rows, []any{&x, &y, &shared, &resemblance, &omitted, &key}, func() error {
		pair := [2]int64{min(x, y), max(x, y)}
		p, ok := known[pair]
		if !ok {
			m.fail(tb, "%s: a match of %d, key %s, which are no two rows with a sketch", tb.name, pair, key)
			return nil
		}
		if p.shared != shared || fmt.Sprintf("%.9f", p.resemblance) != fmt.Sprintf("%.9f", resemblance) {
			m.fail(tb, "%s: a match of %d with %d features and %g, want %d and %g", tb.name, pair, shared, resemblance, p.shared, p.resemblance)
		}
		if resemblance < atLeast && tb.said[pair] != "duplicate" && !m.everSaid(tb, pair) {
			m.fail(tb, "%s: a match of %d with %g, which is below %g", tb.name, pair, resemblance, atLeast)
		}
		recorded[pair] = true
		omits[x] = omits[x] || omitted > 0
		each[x]++
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
	for uid, n := range each {
		if tb.name == "few_matches" && n > 2 {
			m.fail(tb, "%s: %d matches of row %d, want at most 2", tb.name, n, uid)
		}
	}
	if !m.filled { // a row that is filled after its like was checked in asks no policy
		exec(m.t, m.admin, "delete from model.touched where name = $1", tb.name)
		return
	}
	if tb.policy == "ignore" || tb.scanned || tb.name == "few_matches" { // a match that goes brings back none that was omitted
		return
	}
	touched := map[int64]bool{}
	for _, uid := range collectInts(m.t, m.admin, "select uid from model.touched where name = $1", tb.name) {
		touched[uid] = true
	}
	for pair, p := range known {
		if p.shared > 0 && p.resemblance >= atLeast && (touched[p.x] || touched[p.y]) && !recorded[pair] && !omits[p.x] && !omits[p.y] && !m.everSaid(tb, pair) {
			m.fail(tb, "%s: under %s the rows %s and %s (%d, checked in: %v, %v) resemble each other at %g and share %d features, and no match says so",
				tb.name, tb.policy, byUID[p.x].key, byUID[p.y].key, pair, touched[p.x], touched[p.y], p.resemblance, p.shared)
		}
	}
}

// everSaid: a verdict holds from when it was given, and a match is as of the checkin.
func (m *model) everSaid(tb *modelTable, pair [2]int64) bool { return tb.said[pair] != "" }

// compareKept looks at the clusters that are kept, as the worker left them and made anew.
func (m *model) compareKept(tb *modelTable) {
	m.t.Helper()
	if !one[bool](m.t, m.admin, "select to_regclass($1) is not null", m.ofSide(tb, "_cluster")) {
		return
	}
	kept := fmt.Sprintf("(select alike._spelled(a, %s) as key, cluster, count(*) over (partition by cluster) as size from %s k, alike.attachment a where a.name = '%s' and a.replaces is null and cluster is not null)",
		one[string](m.t, m.admin, "select alike._key_text(key_columns, 'k') from alike.attachment where name = $1 and replaces is null", tb.name), m.ofSide(tb, "_cluster"), tb.name)
	for _, made := range []string{"kept", "written"} {
		if n := one[int](m.t, m.admin, fmt.Sprintf(`with c as (select key, dense_rank() over (order by cluster) as cluster, size from alike.clusters($1, linkage => 'single')),
				k as materialized (select key, cluster, size from %s q)
			select count(*) from c full join k using (key) where c.size is distinct from k.size
				or exists (select from c c2 join k k2 using (key) where (c2.cluster = c.cluster) <> (k2.cluster = k.cluster))`, kept), tb.name); n > 0 {
			m.fail(tb, "%s: the clusters that are %s differ from those of clusters in %d rows", tb.name, made, n)
		}
		exec(m.t, m.admin, "select alike.write_clusters($1)", tb.name)
	}
}
