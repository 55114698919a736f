package sqlext_test

import (
	"cmp"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alike-sql/alike/sketch"
	"github.com/mattn/go-sqlite3"
)

var (
	modelSchemas    = flag.Int("schemas", 40, "schemas that the model test makes")
	modelStatements = flag.Int("statements", 60, "statements that it runs on each")
	modelSeed       = flag.Uint64("seed", 1, "where its numbers begin; the n-th schema has seed+n")
)

// modelKeys are the kinds of keys: the columns, the constraint and the option
// that make the key of a table, its columns, and a value for the n-th row.
var modelKeys = []struct {
	name, columns, constraint, option, list string
	value                                   func(n int) string
	null                                    bool // SQLite lets the key be NULL
}{
	{"rowid", "", "", "", "rowid", strconv.Itoa, false},
	{"integer", "id INTEGER PRIMARY KEY", "", "", "id", strconv.Itoa, false},
	{"text", "id TEXT PRIMARY KEY", "", "", "id", func(n int) string { return fmt.Sprintf("'k%d'", n) }, true},
	{"nocase", "id VARCHAR(40) COLLATE NOCASE PRIMARY KEY", "", "", "id", func(n int) string { return fmt.Sprintf("'%s%d'", []string{"k", "K"}[n%2], n/2) }, true},
	{"blob", "id BLOB PRIMARY KEY", "", "", "id", func(n int) string { return fmt.Sprintf("x'%02x'", n) }, true},
	{"untyped", "id PRIMARY KEY", "", "", "id", func(n int) string { return fmt.Sprintf([]string{"%d", "'%d'", "%d.5"}[n%3], n) }, true},
	{"composite", "a INTEGER, b TEXT", "PRIMARY KEY (b, a)", "", "b, a", func(n int) string { return fmt.Sprintf("'k%d', %d", n%3, n) }, true},
	{"text without rowid", "id TEXT PRIMARY KEY", "", " WITHOUT ROWID", "id", func(n int) string { return fmt.Sprintf("'k%d'", n) }, false},
	{"composite without rowid", "a INTEGER, b BLOB", "PRIMARY KEY (a, b)", " WITHOUT ROWID", "a, b", func(n int) string { return fmt.Sprintf("%d, x'%02x'", n%3, n) }, false},
	{"descending", "id INTEGER PRIMARY KEY DESC", "", "", "id", strconv.Itoa, true},
}

// putBack is added to the identity of a row that a trigger puts back under its key, before
// ours hear that it was deleted.
const putBack = 1_000_000_000_000

// modelRow is a row of the user's table, the truth.
type modelRow struct {
	key, body, rest string // quoted as SQL
	uid             int64
	attached        bool // its key is known and it meets the condition
}

// modelMark is a verdict, by the identities of the rows.
type modelMark struct {
	x, y    int64
	verdict string
	maybe   bool // a statement of several rows may have removed one of the two for a moment
}

// model is one database and what should be in it. Each row has an identity, the
// column uid, by which it is followed through changes of its key.
type model struct {
	database
	random    *rand.Rand
	file      string
	schema    string // main, temp or aux
	layout    string
	table     string
	body      string // the column's present name
	keys      string // the columns of the key, by their present names
	sideKeys  string // and in our tables
	kind      int
	policy    string
	mode      string
	clusters  int // the most rows of a cluster that is kept, or 0
	condition string
	setup     []string // what a new connection has to be told
	recursive bool
	view      bool
	nextUID   int64
	columns   int
	marks     []modelMark
	saved     [][]modelMark // the marks at BEGIN and each SAVEPOINT
	rows0     []modelRow    // before the statement
	dump0     string
	log       []string
	sketches  map[string]string
	judged    map[int64]string // the documents after the statement before
	complete  int              // rows whose matches were compared with all others
	clustered int              // checks that found a cluster that is kept
}

// Random statements on random schemas, compared with what a person would expect.
// The long form is -args -schemas 1000 -statements 200.
func TestModel(t *testing.T) {
	n := *modelSchemas
	if testing.Short() {
		n = min(n, 20)
	}
	complete, clustered := 0, 0
	for i := range n {
		seed := *modelSeed + uint64(i)
		if !t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			m := newModel(t, seed)
			m.run(*modelStatements)
			complete += m.complete
			clustered += m.clustered
		}) {
			t.Logf("again: go test ./sqlext -run 'TestModel$' -args -schemas 1 -statements %d -seed %d", *modelStatements, seed)
			return
		}
	}
	if n >= 20 && complete < 2*n {
		t.Errorf("the matches of %d rows were compared with all others", complete)
	}
	if n >= 20 && clustered < n {
		t.Errorf("%d checks found a cluster that is kept", clustered)
	}
}

func (m *model) pick(list ...string) string { return list[m.random.IntN(len(list))] }

func (m *model) chance(of int) bool { return m.random.IntN(of) == 0 }

func newModel(t testing.TB, seed uint64) *model {
	m := &model{random: rand.New(rand.NewPCG(seed, 5)), table: "d", body: "body", policy: "ignore", mode: "compute", sketches: map[string]string{}}
	m.t = t
	m.layout = []string{"columns", "parts"}[seed%2]
	m.kind = m.random.IntN(len(modelKeys))
	m.keys = modelKeys[m.kind].list
	m.sideKeys = m.keys
	if m.keys == "rowid" {
		m.sideKeys = "docid"
	}
	m.schema = m.pick("main", "main", "main", "temp", "aux")
	dir := t.TempDir()
	m.file = filepath.Join(dir, "model.db")
	if m.schema == "aux" {
		m.setup = append(m.setup, `ATTACH '`+filepath.Join(dir, "aux.db")+`' AS aux`)
	}
	m.setup = append(m.setup, `PRAGMA synchronous = OFF`)
	if m.recursive = m.chance(3); m.recursive {
		m.setup = append(m.setup, `PRAGMA recursive_triggers = ON`)
	}
	if m.chance(2) {
		m.setup = append(m.setup, `PRAGMA foreign_keys = ON`)
	}
	m.connect()
	k := modelKeys[m.kind]
	columns := []string{"body TEXT", "uid INTEGER", "extra TEXT",
		m.pick("p INTEGER", "p INTEGER REFERENCES p(id) ON DELETE CASCADE ON UPDATE CASCADE", "p INTEGER REFERENCES p(id) ON DELETE SET NULL"),
		m.pick("u TEXT", "u TEXT UNIQUE", "u TEXT COLLATE NOCASE UNIQUE", "u TEXT UNIQUE ON CONFLICT REPLACE", "u TEXT UNIQUE ON CONFLICT IGNORE"),
		m.pick("v TEXT", "v TEXT NOT NULL DEFAULT 'dv'", "v TEXT NOT NULL DEFAULT 'dv' UNIQUE")}
	if k.columns != "" {
		columns = append([]string{k.columns}, columns...)
	}
	if k.constraint != "" {
		columns = append(columns, k.constraint)
	}
	if m.chance(4) {
		columns = append(columns, "UNIQUE (v, u)")
	}
	m.do(`CREATE TABLE ` + m.schema + `.p(id INTEGER PRIMARY KEY)`)
	m.do(`INSERT INTO ` + m.schema + `.p VALUES (1), (2), (3)`)
	m.do(`CREATE TABLE ` + m.schema + `.d(` + strings.Join(columns, ", ") + `)` + k.option)
	if m.chance(3) {
		m.do(`CREATE UNIQUE INDEX ` + m.schema + `.extra_where ON d(extra) WHERE extra > 'e'`)
	}
	if m.view = m.chance(4); m.view {
		m.do(`CREATE VIEW ` + m.schema + `.dv AS SELECT * FROM d`)
		if m.keys != "rowid" {
			list := m.keys + ", body, uid, u"
			m.do(`CREATE TRIGGER ` + m.schema + `.dv_insert INSTEAD OF INSERT ON dv BEGIN INSERT INTO d(` + list + `) VALUES (new.` + strings.ReplaceAll(list, ", ", ", new.") + `); END`)
		}
		m.do(`CREATE TRIGGER ` + m.schema + `.dv_update INSTEAD OF UPDATE ON dv BEGIN UPDATE d SET body = new.body, u = new.u WHERE uid = old.uid; END`)
		m.do(`CREATE TRIGGER ` + m.schema + `.dv_delete INSTEAD OF DELETE ON dv BEGIN DELETE FROM d WHERE uid = old.uid; END`)
	}
	triggers := m.triggers()
	before := m.random.IntN(len(triggers) + 1)
	for _, sql := range triggers[:before] {
		m.do(sql)
	}
	for range m.random.IntN(5) {
		m.exec1(m.insert())
	}
	m.attach()
	ignores := false
	for _, sql := range triggers[before:] {
		m.do(sql)
		ignores = ignores || strings.Contains(sql, "AFTER") && (strings.Contains(sql, "IGNORE") || strings.Contains(sql, "FAIL"))
	}
	if ignores {
		m.do(`SELECT alike_refresh('` + m.name() + `')`)
	}
	return m
}

// connect opens the database anew.
func (m *model) connect() {
	m.database = open(m.t, m.file)
	for _, sql := range m.setup {
		m.do(sql)
	}
}

func (m *model) name() string { return m.schema + "." + m.table }

func (m *model) do(sql string) {
	m.log = append(m.log, sql)
	m.t.Helper()
	if _, err := m.try(sql); err != nil {
		m.fail("%v", err)
	}
}

// exec1 runs a statement that may fail, by a constraint or a trigger of the
// user's, but never for a reason of ours.
func (m *model) exec1(sql string) {
	m.log = append(m.log, sql)
	_, err := m.try(sql)
	if err == nil {
		return
	}
	m.log = append(m.log, "-- "+err.Error())
	if text := err.Error(); strings.Contains(text, "alike") && !(m.policy == "reject" && strings.Contains(text, "resembles")) || strings.Contains(text, "syntax") || strings.Contains(text, "no such") {
		m.fail("an error that is ours: %s", text)
	}
}

func (m *model) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\n\nafter\n%s", fmt.Sprintf(format, args...), strings.Join(m.log, ";\n"))
}

// triggers are some of the user's, in the order in which they are made.
func (m *model) triggers() []string {
	k := modelKeys[m.kind]
	on := ` ON d WHEN `
	all := []string{
		`tidy AFTER INSERT` + on + `new.body LIKE '  %' BEGIN UPDATE d SET body = trim(body) WHERE uid = new.uid; END`,
		`skip BEFORE INSERT` + on + `new.body = 'ignore me' BEGIN SELECT RAISE(IGNORE); END`,
		`refuse AFTER INSERT` + on + `new.body = 'fail me' BEGIN SELECT RAISE(` + m.pick("ABORT", "FAIL", "ROLLBACK") + `, 'refused'); END`,
		`refuse_update AFTER UPDATE` + on + `new.body = 'fail me' BEGIN SELECT RAISE(` + m.pick("ABORT", "FAIL", "ROLLBACK") + `, 'refused'); END`,
		`skip_update BEFORE UPDATE` + on + `new.body = 'ignore me' BEGIN SELECT RAISE(IGNORE); END`,
		`keep BEFORE DELETE` + on + `old.body = 'keep me' BEGIN SELECT RAISE(IGNORE); END`,
		`make_room BEFORE INSERT` + on + `new.body = 'make room' BEGIN DELETE FROM d WHERE u = new.u; END`,
		`touch AFTER INSERT` + on + `new.body = 'touch another' BEGIN UPDATE d SET body = 'touched' WHERE uid = (SELECT min(uid) FROM d); END`,
		`late AFTER INSERT` + on + `new.body = 'ignore late' BEGIN SELECT RAISE(IGNORE); END`,
		`stamp AFTER UPDATE` + on + `new.body = 'stamp me' BEGIN UPDATE d SET extra = NULL, body = 'stamped' WHERE uid = new.uid; END`,
		`again AFTER DELETE` + on + `old.body = 'once more' BEGIN INSERT INTO d(body, uid, ` + m.keys + `) VALUES ('back', old.uid + ` + fmt.Sprint(putBack) + `, old.` + strings.ReplaceAll(m.keys, ", ", ", old.") + `); END`,
	}
	if k.null && !strings.Contains(m.keys, ",") {
		all = append(all, `fill_in AFTER INSERT ON d WHEN new.id IS NULL BEGIN UPDATE d SET id = 'made' || new.uid WHERE uid = new.uid; END`)
	}
	m.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:m.random.IntN(5)]
	for i := range all {
		all[i] = `CREATE TRIGGER ` + m.schema + `.` + all[i]
	}
	return all
}

func (m *model) attach() {
	options := []string{`"profile": "` + modelProfile + `"`}
	m.mode = m.pick("compute", "compute", "queue")
	m.policy = m.pick("ignore", "link", "link", "warn", "reject")
	if m.mode == "queue" && m.policy == "reject" {
		m.policy = "link"
	}
	options = append(options, `"layout": "`+m.layout+`"`)
	m.condition = m.pick("", "", "u IS NOT 'odd'", `"u" > 'm' OR body IS NOT NULL`)
	options = append(options, `"mode": "`+m.mode+`"`, `"policy": "`+m.policy+`"`)
	if m.chance(3) {
		options = append(options, `"contains": `+m.pick("true", "true", "false"))
	}
	if m.mode == "compute" && m.chance(2) {
		m.clusters = []int{3, 1000}[m.random.IntN(2)]
		options = append(options, fmt.Sprint(`"clusters": `, m.clusters))
	}
	if m.condition != "" {
		options = append(options, `"where": "`+strings.ReplaceAll(m.condition, `"`, `\"`)+`"`)
		m.condition = strings.ReplaceAll(m.condition, "body", m.body)
	}
	m.do(`SELECT alike_attach('` + m.name() + `', '` + m.body + `', '{` + strings.ReplaceAll(strings.Join(options, ", "), "'", "''") + `, "name": "d"}')`)
}

func (m *model) key() string {
	if modelKeys[m.kind].null && m.chance(12) {
		return strings.Repeat("NULL, ", strings.Count(m.keys, ",")) + "NULL"
	}
	n := m.random.IntN(8) + 1
	return modelKeys[m.kind].value(n)
}

// modelProfile is not looked for: the bodies are of every length.
const modelProfile = "words w=4 t=84 k=12 s=7"

const modelText = "the quick brown fox jumps over the lazy dog again and again"

func (m *model) text() string {
	return m.pick("NULL", "''", "'"+modelText+"'", "'"+modelText+" indeed'", "'"+strings.ToUpper(modelText)+"'", "42", "x'616263'", "'something else'",
		"'  spaces around '", "'ignore me'", "'fail me'", "'keep me'", "'make room'", "'touch another'", "'ignore late'", "'stamp me'", "'once more'")
}

func (m *model) unique() string { return m.pick("NULL", "'odd'", "'even'", "'x'", "'X'", "'y'", "'z'") }

func (m *model) row() string {
	m.nextUID++
	return fmt.Sprintf("(%s, %s, %d, %s)", m.key(), m.text(), m.nextUID, m.unique())
}

func (m *model) insert() string {
	rows := m.row()
	for m.chance(2) {
		rows += ", " + m.row()
	}
	into := m.name()
	if m.view && m.keys != "rowid" && m.chance(3) {
		into = m.schema + ".dv"
	}
	return fmt.Sprintf("INSERT %s INTO %s(%s, %s, uid, u) VALUES %s", m.pick("", "OR REPLACE", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ROLLBACK", "OR ABORT"), into, m.keys, m.body, rows)
}

// statement is one of those that a program might run.
func (m *model) statement() string {
	or := m.pick("", "", "OR REPLACE", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ABORT", "OR ROLLBACK")
	d := m.name()
	where := m.pick(fmt.Sprintf("(%s) = (%s)", m.keys, m.key()), fmt.Sprintf("(%s) > (%s)", m.keys, m.key()), fmt.Sprintf("uid %% 3 = %d", m.random.IntN(3)), "u = "+m.unique())
	switch m.random.IntN(14) {
	case 0, 1, 2:
		return m.insert()
	case 3:
		return fmt.Sprintf("UPDATE %s %s SET %s = %s WHERE %s", or, d, m.body, m.text(), where)
	case 4:
		return fmt.Sprintf("UPDATE %s %s SET u = %s WHERE %s", or, d, m.unique(), where)
	case 5:
		return fmt.Sprintf("UPDATE %s %s SET (%s) = (%s), %s = %s WHERE %s", or, d, m.keys, m.key(), m.body, m.text(), where)
	case 6:
		return fmt.Sprintf("UPDATE %s %s SET (%s) = (%s) WHERE %s", or, d, m.keys, m.key(), where)
	case 7:
		return fmt.Sprintf("DELETE FROM %s WHERE %s", d, where)
	case 8:
		if m.keys == "rowid" {
			return fmt.Sprintf("DELETE FROM %s", d)
		}
		return fmt.Sprintf("INSERT INTO %s(%s, %s, uid, u) VALUES %s ON CONFLICT (%s) DO %s", d, m.keys, m.body, m.row(), m.keys,
			m.pick("NOTHING", "UPDATE SET "+m.body+" = excluded."+m.body, "UPDATE SET u = excluded.u", "UPDATE SET u = excluded.u WHERE false"))
	case 9:
		return fmt.Sprintf("INSERT INTO %s(%s, %s, uid, u) VALUES %s ON CONFLICT DO NOTHING", d, m.keys, m.body, m.row())
	case 10:
		return fmt.Sprintf("UPDATE %s %s SET extra = %s, v = coalesce(%s, v), p = %s WHERE %s", or, d, m.pick("NULL", "'f'", "'g'"), m.pick("NULL", "1", "'dv'"), m.pick("NULL", "1", "2"), where)
	case 11:
		return m.pick(`DELETE FROM `+m.schema+`.p WHERE id = 1`, `UPDATE OR REPLACE `+m.schema+`.p SET id = id + 1 WHERE id < 3`, `INSERT OR REPLACE INTO `+m.schema+`.p VALUES (1), (2)`)
	case 12:
		if m.view {
			return m.pick(fmt.Sprintf("UPDATE %s %s.dv SET %s = %s, u = %s WHERE uid %% 2", or, m.schema, m.body, m.text(), m.unique()), "DELETE FROM "+m.schema+".dv WHERE u = "+m.unique())
		}
		return fmt.Sprintf("INSERT %s INTO %s(%s, uid, u) VALUES (%s, %d, %s)", or, d, m.body, m.text(), m.nextUID+1, m.unique()) + m.count()
	default:
		more := m.nextUID + 1
		m.nextUID = 2*m.nextUID + 1
		return fmt.Sprintf("INSERT %s INTO %s(%s, %s, uid, u, extra) SELECT %s, %s || '!', uid + %d, u, 'f' FROM %s WHERE uid %% 2 AND uid < %d", or, d, m.keys, m.body, m.keys, m.body, more, d, more)
	}
}

func (m *model) count() string { m.nextUID++; return "" }

// run is the test.
func (m *model) run(n int) {
	m.look()
	m.check()
	for range n {
		if len(m.saved) > 0 && m.chance(4) {
			m.end()
			continue
		}
		switch m.random.IntN(24) {
		case 0, 1:
			if len(m.saved) == 0 {
				m.do("BEGIN")
			} else {
				m.do(fmt.Sprintf("SAVEPOINT s%d", len(m.saved)))
			}
			m.saved = append(m.saved, slices.Clone(m.marks))
			continue
		case 2, 3:
			m.mark()
		case 4:
			m.change()
		default:
			sql := m.statement()
			m.exec1(sql)
			m.check()
			continue
		}
		m.look()
		m.check()
	}
	for len(m.saved) > 0 {
		m.end()
	}
	m.do(`SELECT alike_refresh('` + m.name() + `')`)
	m.look()
	m.check()
	if got := m.rows(`PRAGMA integrity_check`); got != "ok" {
		m.fail("integrity_check: %s", got)
	}
	m.checkViews("d", m.layout)
	m.do(`SELECT alike_detach('` + m.name() + `', '{"drop": true}')`)
	if got := m.rows(`SELECT group_concat(name) FROM ` + m.schema + `.sqlite_master WHERE name LIKE '%alike%'`); got != "" {
		m.fail("left after detach: %s", got)
	}
}

// end ends the innermost transaction.
func (m *model) end() {
	last := len(m.saved) - 1
	if m.chance(2) {
		m.marks = m.saved[last]
		if last == 0 {
			m.do("ROLLBACK")
		} else {
			m.do(fmt.Sprintf("ROLLBACK TO s%d", last))
			m.do(fmt.Sprintf("RELEASE s%d", last))
		}
	} else if last == 0 {
		m.do("COMMIT")
	} else {
		m.do(fmt.Sprintf("RELEASE s%d", last))
	}
	m.saved = m.saved[:last]
	m.look()
	m.check()
}

// mark gives a verdict on two rows.
func (m *model) mark() {
	var list []modelRow
	for _, r := range m.rows0 {
		if r.attached {
			list = append(list, r)
		}
	}
	if len(list) < 2 {
		return
	}
	x := m.random.IntN(len(list))
	y := (x + 1 + m.random.IntN(len(list)-1)) % len(list)
	verdict := m.pick("duplicate", "distinct")
	key := func(r modelRow) string {
		if strings.Contains(m.keys, ",") {
			parts := strings.Split(r.key, ", ")
			for i, p := range parts {
				if strings.HasPrefix(p, "X'") {
					parts[i] = `'\x` + p[2:]
				}
			}
			return "json_array(" + strings.Join(parts, ", ") + ")"
		}
		return r.key
	}
	m.do(fmt.Sprintf("SELECT alike_mark('%s', %s, %s, '%s')", m.name(), key(list[x]), key(list[y]), verdict))
	a, b := list[x].uid, list[y].uid
	m.marks = slices.DeleteFunc(m.marks, func(k modelMark) bool { return k.x == a && k.y == b || k.x == b && k.y == a })
	m.marks = append(m.marks, modelMark{a, b, verdict, false})
}

// change is one of the rarer events.
func (m *model) change() {
	d := m.name()
	open := len(m.saved) > 0
	switch m.random.IntN(10) {
	case 0:
		m.columns++
		m.do(fmt.Sprintf("ALTER TABLE %s ADD COLUMN more%d", d, m.columns))
	case 1:
		if m.view || len(m.rows(`SELECT 1 FROM `+m.schema+`.sqlite_master WHERE type = 'trigger' AND name NOT LIKE '%alike%' LIMIT 1`)) > 0 {
			return // the triggers of this test name the column
		}
		if m.schema == "temp" {
			return // SQLite renames no column that a temporary trigger compares beside a subquery
		}
		to := m.pick("body", "document", `contents`)
		if to == m.body || open { // a rollback would take the name back
			return
		}
		m.do(fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO %s", d, m.body, to))
		m.condition = strings.ReplaceAll(m.condition, m.body, to)
		m.body = to
	case 2:
		if to := m.pick("d", "papers"); to != m.table && !open {
			m.do(fmt.Sprintf("ALTER TABLE %s RENAME TO %s", d, to))
			m.table = to
		}
	case 3:
		if !open {
			m.do("VACUUM " + m.pick("", m.schema))
			m.renumbered()
		}
	case 4:
		if !open && m.schema == "main" {
			m.backup()
		}
	case 5:
		if !open && m.schema == "main" {
			m.dump()
		}
	case 6:
		if !open && m.schema != "temp" {
			m.Close()
			m.connect()
		}
	case 7:
		m.do(`SELECT alike_refresh('` + d + `')`)
	case 8:
		policy := m.pick("ignore", "link", "warn", "reject")
		if m.mode == "queue" && policy == "reject" || open {
			return
		}
		m.policy = policy
		m.do(`SELECT alike_attach('` + d + `', '` + m.body + `', '{"name": "d", "policy": "` + policy + `"}')`)
	case 9:
		mode := m.pick("compute", "queue")
		if mode == "queue" && (m.policy == "reject" || m.clusters > 0) || open {
			return
		}
		m.mode = mode
		m.do(`SELECT alike_attach('` + d + `', '` + m.body + `', '{"name": "d", "mode": "` + mode + `"}')`)
	}
}

// renumbered says that the rowids of a table without a key may be others now,
// which the pages warn of.
func (m *model) renumbered() {
	if m.keys == "rowid" {
		m.do(`SELECT alike_refresh('` + m.name() + `')`)
		m.do(`DELETE FROM ` + m.schema + `.d_alike_mark`)
		m.marks = nil
	}
}

func (m *model) raw(do func(c *sqlite3.SQLiteConn) error) {
	c, err := m.Conn(context.Background())
	if err == nil {
		err = c.Raw(func(driver any) error { return do(driver.(*sqlite3.SQLiteConn)) })
		c.Close()
	}
	if err != nil {
		m.fail("%v", err)
	}
}

// backup goes on with a copy of the database.
func (m *model) backup() {
	copied := m.file + "2"
	to := open(m.t, copied)
	c, err := to.Conn(context.Background())
	if err != nil {
		m.fail("%v", err)
	}
	if err := c.Raw(func(driver any) error {
		m.raw(func(from *sqlite3.SQLiteConn) error {
			b, err := driver.(*sqlite3.SQLiteConn).Backup("main", from, "main")
			if err != nil {
				return err
			}
			if _, err := b.Step(-1); err != nil {
				return err
			}
			return b.Finish()
		})
		return nil
	}); err != nil {
		m.fail("%v", err)
	}
	c.Close()
	to.Close()
	m.move(copied)
}

func (m *model) move(to string) {
	m.Close()
	if err := os.Rename(to, m.file); err != nil {
		m.fail("%v", err)
	}
	m.connect()
	m.log = append(m.log, "-- a copy of the database")
}

// dump goes on with what the shell's dump restores.
func (m *model) dump() {
	restored := m.file + "3"
	out, err := exec.Command("sh", "-c", `sqlite3 "$0" .dump | sqlite3 "$1"`, m.file, restored).CombinedOutput()
	if err != nil || len(out) > 0 {
		m.fail("dump: %v %s", err, out)
	}
	m.move(restored)
	m.renumbered()
}

// checkClusters compares the clusters that are kept with those of the rows as they are now.
func (m *model) checkClusters() {
	m.t.Helper()
	if m.clusters == 0 {
		return
	}
	key := m.sideKeys
	if columns := strings.Split(key, ", "); len(columns) > 1 {
		for i, c := range columns {
			columns[i] = fmt.Sprintf(`CASE typeof(%s) WHEN 'blob' THEN '\x' || hex(%[1]s) ELSE %[1]s END`, c)
		}
		key = "json_array(" + strings.Join(columns, ", ") + ")"
	}
	if differences := m.keptDiffer(m.name(), m.schema, key, m.clusters); differences != nil {
		m.fail("%s", strings.Join(differences, "\n"))
	}
	if m.rows(`SELECT count(*) > 0 FROM `+m.schema+`.d_alike_cluster WHERE cluster > 0`) == "1" {
		m.clustered++
	}
}

// documents reads the user's table.
func (m *model) documents() []modelRow {
	quoted := make([]string, 0, 2)
	known := make([]string, 0, 2)
	for _, k := range strings.Split(m.keys, ", ") {
		quoted = append(quoted, "quote("+k+")")
		known = append(known, k+" IS NOT NULL")
	}
	condition := m.condition
	if condition == "" {
		condition = "1"
	}
	text := m.rows(fmt.Sprintf("SELECT %s, uid, ifnull((%s) AND (%s), 0), quote(CAST(%s AS BLOB)), quote(u) || quote(v) || quote(extra) || quote(p) FROM %s ORDER BY uid",
		strings.Join(quoted, " || ', ' || "), strings.Join(known, " AND "), condition, m.body, m.name()))
	var list []modelRow
	if text == "" {
		return nil
	}
	for _, line := range strings.Split(text, "\n") {
		parts := strings.Split(line, "|")
		uid, _ := strconv.ParseInt(parts[1], 10, 64)
		list = append(list, modelRow{parts[0], parts[3], parts[4], uid, parts[2] == "1"})
	}
	return list
}

// dumpOurs is all that our tables hold, without the times.
func (m *model) dumpOurs() string {
	var b strings.Builder
	names := m.rows(`SELECT name FROM ` + m.schema + `.sqlite_master WHERE type = 'table' AND (name LIKE 'd\_alike%' ESCAPE '\' OR name = 'alike_error') ORDER BY 1`)
	for _, name := range strings.Split(names, "\n") {
		columns := m.rows(`SELECT group_concat('quote("' || name || '")', ' || ''|'' || ') FROM pragma_table_info(?, ?) WHERE name NOT LIKE '%\_at' ESCAPE '\'`, name, m.schema)
		fmt.Fprintf(&b, "%s\n%s\n", name, m.rows(`SELECT `+columns+` FROM `+m.schema+`.`+name+` ORDER BY 1`))
	}
	return b.String()
}

func (m *model) look() { m.rows0, m.dump0 = m.documents(), m.dumpOurs() }

// follow moves the verdicts with the rows. A row that takes the place of another
// of the same key, where no trigger of ours hears of it, takes its verdicts over.
func (m *model) follow(now []modelRow) {
	before, after, places := map[int64]string{}, map[int64]string{}, map[string]int64{}
	known := func(r modelRow) bool { return !strings.Contains(r.key, "NULL") }
	for _, r := range m.rows0 {
		if known(r) {
			before[r.uid] = m.fold(r.key)
		}
	}
	for _, r := range now {
		if known(r) {
			after[r.uid] = m.fold(r.key)
			if _, old := before[r.uid]; !old {
				places[m.fold(r.key)] = r.uid
			}
		}
	}
	heir := func(uid int64) int64 {
		if _, there := after[uid]; there {
			return uid
		}
		if m.recursive && places[before[uid]] < putBack {
			return 0
		}
		return places[before[uid]]
	}
	var kept []modelMark
	for _, k := range m.marks {
		if x, y := heir(k.x), heir(k.y); x != 0 && y != 0 {
			kept = append(kept, modelMark{x, y, k.verdict, x != k.x || y != k.y})
		}
	}
	m.marks = kept
}

func (m *model) fold(key string) string {
	if modelKeys[m.kind].name == "nocase" {
		return strings.ToLower(key)
	}
	return key
}

// stored is what the side table should hold of a document.
func (m *model) stored(body string) string {
	if s, ok := m.sketches[body]; ok {
		return s
	}
	s := "NULL|NULL|NULL|" + strings.Repeat("NULL,", 12)
	if body != "NULL" {
		document, err := hex.DecodeString(body[2 : len(body)-1])
		if err != nil {
			m.fail("%v", err)
		}
		p, err := sketch.ParseProfile(modelProfile + " bits=8")
		if err != nil {
			m.fail("%v", err)
		}
		k, err := sketch.NewSketcher(p)
		if err != nil {
			m.fail("%v", err)
		}
		k.Document(document)
		features := make([]string, 12)
		for i := range features {
			features[i] = "NULL"
		}
		if k.Empty() {
			s = fmt.Sprintf("%d|0|NULL|%s,", sketch.ContentHash(document), strings.Join(features, ","))
		} else {
			for _, f := range k.AppendFeatures(nil) {
				features[f.Slot] = fmt.Sprint(f.Value)
			}
			s = fmt.Sprintf("%d|%d|X'%X'|%s,", sketch.ContentHash(document), k.Shingles(), k.AppendSketch(nil), strings.Join(features, ","))
		}
	}
	m.sketches[body] = s
	return s
}

// check compares everything that we keep with the model.
func (m *model) check() {
	m.t.Helper()
	var ended bool
	m.raw(func(c *sqlite3.SQLiteConn) error { ended = c.AutoCommit(); return nil })
	if ended && len(m.saved) > 0 {
		// A conflict clause or a trigger of the user's has rolled it back.
		m.marks, m.saved, m.judged = m.saved[0], nil, nil
		m.look()
	} else {
		now, dump := m.documents(), ""
		m.follow(now)
		// The trigger stamp writes another document and the one before: the row is judged anew.
		if slices.Equal(now, m.rows0) && !strings.Contains(m.log[len(m.log)-1], "stamp me") {
			if dump = m.dumpOurs(); dump != m.dump0 {
				m.fail("no document changed, but our tables did:\n%s\nthey were:\n%s", dump, m.dump0)
			}
		}
		m.rows0 = now
	}
	var keys []string
	for _, k := range strings.Split(m.sideKeys, ", ") {
		keys = append(keys, "quote("+k+")")
	}
	m.checkMarks(keys)
	m.checkClusters()
	if m.mode == "queue" {
		if m.checkQueue(); m.chance(2) {
			m.dump0 = m.dumpOurs()
			return
		}
		m.do(`SELECT alike_refresh('` + m.name() + `')`)
	}
	m.dump0 = m.dumpOurs()
	features := make([]string, 12)
	for i := range features {
		features[i] = fmt.Sprintf("quote(f%d)", i+1)
	}
	var want []string
	alike := map[string][]byte{}
	for _, r := range m.rows0 {
		if r.attached {
			s := m.stored(r.body)
			want = append(want, m.fold(r.key)+"|"+s)
			if x := strings.Split(s, "|")[2]; x != "NULL" {
				alike[m.fold(r.key)], _ = hex.DecodeString(x[2 : len(x)-1])
			}
		}
	}
	var got []string
	if text := m.rows(fmt.Sprintf("SELECT %s, quote(content_hash), quote(shingles), quote(sketch), %s || ',' FROM %s.d_alike", strings.Join(keys, " || ', ' || "), strings.Join(features, " || ',' || "), m.schema)); text != "" {
		for _, line := range strings.Split(text, "\n") {
			key, rest, _ := strings.Cut(line, "|")
			got = append(got, m.fold(key)+"|"+rest)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		m.fail("the side table holds\n%s\nwant\n%s", brief(got), brief(want))
	}
	m.checkMatches(keys, alike)
	m.checkValues()
	m.judged = map[int64]string{}
	for _, r := range m.rows0 {
		if r.attached {
			m.judged[r.uid] = r.body
		}
	}
}

// checkValues compares the values of passages with those of the documents.
func (m *model) checkValues() {
	if m.rows(`SELECT count(*) FROM `+m.schema+`.sqlite_master WHERE name = 'd_alike_value'`) == "0" {
		return
	}
	list := strings.Split(m.sideKeys, ", ")
	same := make([]string, len(list))
	for i, key := range list {
		same[i] = "s." + key + " = a." + key
	}
	stored := `SELECT value, ` + m.sideKeys + ` FROM ` + m.schema + `.d_alike_value`
	wanted := `SELECT j.value, s.` + strings.Join(list, ", s.") + ` FROM ` + m.schema + `.d_alike a JOIN ` + m.schema + `.d_alike_source s ON ` + strings.Join(same, " AND ") + `, json_each(alike__passages(s.document,
		(SELECT p.profile || char(10) || char(10) || 'plain' || char(10) || p.id || char(10) || p.tokens FROM ` + m.schema + `.alike_attachment a JOIN ` + m.schema + `.alike_settings p ON p.id = a.profile WHERE a.name = 'd' AND state <> 'next'))) j`
	for _, difference := range []string{stored + " EXCEPT " + wanted, wanted + " EXCEPT " + stored} {
		if rows := m.rows(difference); rows != "" {
			m.fail("values of passages that are not those of the documents: %s\n%s", difference, rows)
		}
	}
}

func brief(list []string) string {
	short := make([]string, len(list))
	for i, s := range list {
		short[i] = s[:min(len(s), 60)]
	}
	return strings.Join(short, "\n")
}

// checkQueue compares the queue with the documents: each attached row is there
// or has its sketch, and no other is.
func (m *model) checkQueue() {
	var keys []string
	for _, k := range strings.Split(m.sideKeys, ", ") {
		keys = append(keys, "quote("+k+")")
	}
	key := strings.Join(keys, " || ', ' || ")
	read := func(table string) (list []string) {
		if text := m.rows("SELECT " + key + " FROM " + m.schema + "." + table); text != "" {
			for _, line := range strings.Split(text, "\n") {
				list = append(list, m.fold(line))
			}
		}
		return list
	}
	var want []string
	for _, r := range m.rows0 {
		if r.attached {
			want = append(want, m.fold(r.key))
		}
	}
	got := append(read("d_alike"), read("d_alike_queue")...)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		m.fail("the side table and the queue hold\n%s\nwant\n%s", brief(got), brief(want))
	}
}

func (m *model) checkMarks(keys []string) {
	m.t.Helper()
	uids := map[int64]string{}
	for _, r := range m.rows0 {
		uids[r.uid] = m.fold(r.key)
	}
	pair := func(x, y, verdict string) string {
		if x > y {
			x, y = y, x
		}
		return x + "|" + y + "|" + verdict
	}
	var got []string
	if text := m.rows(`SELECT ` + m.both(keys) + `, verdict FROM ` + m.schema + `.d_alike_mark`); text != "" {
		for _, line := range strings.Split(text, "\n") {
			p := strings.Split(line, "|")
			got = append(got, pair(m.fold(p[0]), m.fold(p[1]), p[2]))
		}
	}
	var want []string
	var kept []modelMark
	for _, k := range m.marks {
		if mark := pair(uids[k.x], uids[k.y], k.verdict); !k.maybe || slices.Contains(got, mark) {
			want = append(want, mark)
			kept = append(kept, modelMark{k.x, k.y, k.verdict, false})
		}
	}
	m.marks = kept
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		m.fail("the verdicts are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// both are the two keys of a table about pairs.
func (m *model) both(keys []string) string {
	others := make([]string, len(keys))
	for i, k := range strings.Split(m.sideKeys, ", ") {
		others[i] = "quote(other)"
		if len(keys) > 1 {
			others[i] = "quote(other_" + k + ")"
		}
	}
	return strings.Join(keys, " || ', ' || ") + ", " + strings.Join(others, " || ', ' || ")
}

// checkMatches: what is recorded is about rows that are there, and true.
func (m *model) checkMatches(keys []string, sketches map[string][]byte) {
	m.t.Helper()
	text := m.rows(`SELECT ` + m.both(keys) + `, resemblance FROM ` + m.schema + `.d_alike_match`)
	seen := map[string]bool{}
	for _, line := range strings.Split(text, "\n") {
		if text == "" {
			break
		}
		p := strings.Split(line, "|")
		x, y := m.fold(p[0]), m.fold(p[1])
		if sketches[x] == nil || sketches[y] == nil || x == y {
			m.fail("a match of %s and %s, which are no two rows with a sketch", x, y)
		}
		want, err := sketch.Resemblance(sketches[x], sketches[y])
		if err != nil {
			m.fail("%v", err)
		}
		if got, _ := strconv.ParseFloat(p[2], 64); cmp.Compare(got, want) != 0 && got-want > 1e-12 {
			m.fail("a match of %s and %s with resemblance %g, want %g", x, y, got, want)
		}
		if seen[min(x, y)+"|"+max(x, y)] {
			m.fail("the match of %s and %s is there twice", x, y)
		}
		seen[min(x, y)+"|"+max(x, y)] = true
	}
	m.checkCompleteness(sketches, seen)
}

// checkCompleteness compares each row that the last statement has written with all
// others: those that share a feature and reach the threshold are matches of it, unless
// there are more than are recorded.
func (m *model) checkCompleteness(sketches map[string][]byte, seen map[string]bool) {
	m.t.Helper()
	last := m.log[len(m.log)-1]
	if m.judged == nil || m.mode != "compute" || m.policy != "link" && m.policy != "warn" || !strings.HasPrefix(last, "INSERT") && !strings.HasPrefix(last, "UPDATE") && !strings.HasPrefix(last, "DELETE") {
		return
	}
	features := func(r modelRow) []string {
		s := m.stored(r.body)
		return strings.Split(s[strings.LastIndex(s, "|")+1:], ",")
	}
	for _, x := range m.rows0 {
		if body, before := m.judged[x.uid]; !x.attached || before && body == x.body || sketches[m.fold(x.key)] == nil {
			continue
		}
		var missing []string
		found := 0
		for _, y := range m.rows0 {
			key, other := m.fold(x.key), m.fold(y.key)
			if !y.attached || key == other || sketches[other] == nil {
				continue
			}
			if seen[min(key, other)+"|"+max(key, other)] {
				found++
				continue
			}
			shared, theirs := 0, features(y)
			for i, f := range features(x) {
				if f != "" && f != "NULL" && f == theirs[i] {
					shared++
				}
			}
			r, err := sketch.Resemblance(sketches[key], sketches[other])
			if err != nil {
				m.fail("%v", err)
			}
			distinct := slices.ContainsFunc(m.marks, func(k modelMark) bool {
				return k.verdict == "distinct" && (k.x == x.uid && k.y == y.uid || k.x == y.uid && k.y == x.uid)
			})
			if shared > 0 && r >= 0.9 && !distinct {
				missing = append(missing, fmt.Sprintf("%s (%g)", other, r))
			}
		}
		if m.complete++; len(missing) > 0 && found < 10 {
			m.fail("the row %s has no match with %s", x.key, strings.Join(missing, ", "))
		}
	}
}
