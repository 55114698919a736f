package sqlext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sketch/simindex"
)

// options are what attach is told, as JSON. What is not said stays as it is, or
// is the default at the first attach.
type options struct {
	Profile *string   `json:"profile"`
	SI      *[]string `json:"si"`
	Policy  *string   `json:"policy"`
	AtLeast number    `json:"at_least"`
	Mode    *string   `json:"mode"`
	Name    *string   `json:"name"`
	Where   *string   `json:"where"`
	Extract *string   `json:"extract"`
}

// number is an option that null takes back to its default.
type number struct {
	given bool
	value *float64
}

func (n *number) UnmarshalJSON(text []byte) error {
	n.given = true
	if json.Unmarshal(text, &n.value) != nil {
		return fmt.Errorf("at_least is %.60s, want a number or null", text)
	}
	return nil
}

// readJSON decodes options and refuses what it does not know.
func readJSON(v *value, into any) error {
	if v == nil {
		return nil
	}
	if v.kind != typeText {
		return fmt.Errorf("the options are %s, want JSON", v.describe())
	}
	d := json.NewDecoder(bytes.NewReader(v.bytes()))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) && mistyped.Field != "" {
		want := map[reflect.Kind]string{reflect.String: "a string", reflect.Slice: "a list of strings", reflect.Bool: "true or false"}[mistyped.Type.Kind()]
		return fmt.Errorf("the options: %s: want %s, not %s", mistyped.Field, want, mistyped.Value)
	}
	if mistyped != nil {
		return fmt.Errorf("the options: want a JSON object, not %s", mistyped.Value)
	}
	if err != nil {
		return fmt.Errorf("the options: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("the options: something follows the JSON object")
	}
	return nil
}

// apply changes settings as the options say, and checks them.
func (o *options) apply(s *settings) error {
	choose := func(what string, into *string, from *string, allowed ...string) error {
		if from == nil {
			return nil
		}
		if !slices.Contains(allowed, *from) {
			return fmt.Errorf("the %s is %.60q, want %s", what, *from, strings.Join(allowed, ", "))
		}
		*into = *from
		return nil
	}
	if err := choose("policy", &s.Policy, o.Policy, "ignore", "link", "warn", "reject"); err != nil {
		return err
	}
	if err := choose("mode", &s.Mode, o.Mode, "compute", "queue"); err != nil {
		return err
	}
	if err := choose("extract", &s.Extract, o.Extract, "plain", "html"); err != nil {
		return err
	}
	if s.Mode == "queue" && s.Policy == "reject" {
		return fmt.Errorf("the policy reject judges a row as it is written and needs the mode compute")
	}
	if o.AtLeast.given {
		if s.AtLeast = o.AtLeast.value; s.AtLeast != nil && !(*s.AtLeast > 0 && *s.AtLeast <= 1) {
			return fmt.Errorf("at_least is %g, want above 0 and at most 1", *s.AtLeast)
		}
	}
	if o.Where != nil {
		s.Where = *o.Where
	}
	if o.Profile != nil {
		p, err := storedProfile(*o.Profile)
		if err != nil {
			return err
		}
		s.Profile = p.String()
	}
	p, err := sketch.ParseProfile(s.Profile)
	if err != nil {
		return err
	}
	if o.SI != nil {
		s.SI = []string{}
		for _, name := range *o.SI {
			v, err := simindex.Parse(name)
			if err != nil {
				return err
			}
			name = v.String()
			if slices.Contains(s.SI, name) {
				return fmt.Errorf("the similarity index %s is given twice", name)
			}
			s.SI = append(s.SI, name)
		}
		if len(s.SI) > mostIndexes {
			return fmt.Errorf("%d similarity indexes, want at most %d", len(s.SI), mostIndexes)
		}
	}
	_, err = aspect.Parse(p, s.SI)
	return err
}

// storedProfile is a profile as an attached table stores it: 8 bits of each
// slot unless the settings say otherwise.
func storedProfile(text string) (sketch.Profile, error) {
	p, err := sketch.ParseProfile(text)
	if err == nil && p.Slots() && !regexp.MustCompile(`(?i)(^|\s)bits=`).MatchString(text) {
		p.Bits = 8
	}
	return p, err
}

// attach is alike_attach. It gives the number of rows brought up to date.
func attach(c *conn, f *frame) error {
	args := f.args()
	if args[0].kind != typeText {
		return fmt.Errorf("the table is %s, want a name", args[0].describe())
	}
	if args[1].kind != typeText {
		return fmt.Errorf("the column is %s, want a name", args[1].describe())
	}
	var o options
	if err := readJSON(argument(args, 2), &o); err != nil {
		return err
	}
	ref, err := parseReference(args[0].text())
	if err != nil {
		return err
	}
	t, err := c.findTable(ref)
	if err != nil {
		return err
	}
	column, err := t.column(args[1].text())
	if err != nil {
		return err
	}
	name := t.name
	if o.Name != nil {
		if name = *o.Name; name == "" || len(name) > 200 || strings.ContainsRune(name, 0) {
			return fmt.Errorf("the name %.60q, want 1 to 200 characters", name)
		}
	}
	a, err := c.settle(t, column, name, &o)
	if err != nil {
		return err
	}
	n, err := c.fill(a)
	f.setInt(n)
	return err
}

// table is a table of the user's.
type table struct {
	schema, name string
	columns      []string
	keys         []key
	keyIsRowid   bool
	uniques      []unique
}

// findTable looks a table up as SQL does, and learns its key.
func (c *conn) findTable(ref reference) (*table, error) {
	schemas := []string{ref.schema}
	if ref.schema == "" {
		var err error
		if schemas, err = c.schemas(); err != nil {
			return nil, err
		}
	}
	for _, schema := range schemas {
		t := &table{schema: schema}
		kind, text := "", ""
		err := c.run("SELECT name, type, sql FROM "+quote(schema)+".sqlite_master WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')", func(row []value) error {
			t.name, kind, text = row[0].text(), row[1].text(), row[2].text()
			return nil
		}, ref.name)
		if err != nil {
			return nil, err
		}
		if kind == "" {
			continue
		}
		if kind == "view" {
			return nil, fmt.Errorf("%s is a view, want a table", t.name)
		}
		if regexp.MustCompile(`(?is)^\s*CREATE\s+VIRTUAL\b`).MatchString(text) {
			return nil, fmt.Errorf("%s is a virtual table, which cannot have triggers", t.name)
		}
		if err := c.refuseOurs(t); err != nil {
			return nil, err
		}
		return t, c.describe(t)
	}
	where := ""
	if ref.schema != "" {
		where = " in " + ref.schema
	}
	return nil, fmt.Errorf("there is no table %s%s", ref.name, where)
}

// refuseOurs keeps the aspect's own tables from being attached.
func (c *conn) refuseOurs(t *table) error {
	owned := false
	err := c.run(`SELECT 1 FROM `+quote(t.schema)+`.alike_attachment a WHERE ?1 IN ('alike_settings', 'alike_attachment', 'alike_error')
		OR substr(?1, 1, length(a.name) + 6) = a.name || '_alike' AND substr(?1, length(a.name) + 7) IN ('', '_next', '_match', '_mark', '_queue', '_replaced')`,
		func([]value) error { owned = true; return nil }, t.name)
	if err == nil && owned {
		return fmt.Errorf("%s is a table of an attachment", t.name)
	}
	return nil // without a registry there are no attachments
}

// column finds a column, by its name as SQL compares it.
func (t *table) column(name string) (string, error) {
	plain := name
	if ref, err := parseReference(name); err == nil && ref.schema == "" {
		plain = ref.name
	}
	for _, wanted := range []string{name, plain} {
		for _, column := range t.columns {
			if strings.EqualFold(column, wanted) {
				return column, nil
			}
		}
	}
	return "", fmt.Errorf("%s has no column %s", t.name, name)
}

// describe learns the columns, the key and what a REPLACE can conflict with.
func (c *conn) describe(t *table) error {
	type column struct {
		name, declared string
		pk             int64
	}
	var columns []column
	// table_xinfo knows generated columns, which table_info leaves out.
	err := c.run("SELECT name, type, pk, hidden FROM pragma_table_xinfo(?1, ?2) ORDER BY cid", func(row []value) error {
		columns = append(columns, column{row[0].text(), row[1].text(), row[2].i})
		t.columns = append(t.columns, row[0].text())
		return nil
	}, t.name, t.schema)
	if err != nil {
		return err
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(t.columns, func(other string) bool { return strings.EqualFold(other, name) })
	}
	withoutRowid := false
	rowid := rowidName(taken)
	if rowid == "" {
		withoutRowid = true // as good as: it cannot be named
	} else if s, err := c.prepare("SELECT " + rowid + " FROM " + quote(t.schema) + "." + quote(t.name)); err != nil {
		withoutRowid = true
	} else {
		s.close()
	}
	slices.SortStableFunc(columns, func(x, y column) int { return int(x.pk - y.pk) })
	for _, col := range columns {
		if col.pk > 0 {
			k := key{Name: col.name, Expr: quote(col.name), Type: plainType(col.declared)}
			if k.Collate, err = c.collation(t.schema, t.name, col.name); err != nil {
				return err
			}
			t.keys = append(t.keys, k)
		}
	}
	if len(t.keys) == 1 && !withoutRowid && c.isRowidAlias(t, columns[slices.IndexFunc(columns, func(col column) bool { return col.pk == 1 })].declared) {
		t.keyIsRowid = true
		t.keys[0].isRowid, t.keys[0].Type, t.keys[0].Collate = true, "INTEGER", ""
	}
	if len(t.keys) == 0 {
		if withoutRowid {
			return fmt.Errorf("%s has no key: its columns hide the rowid", t.name)
		}
		t.keyIsRowid = true
		t.keys = []key{{Name: "docid", Expr: rowid, Type: "INTEGER", isRowid: true}}
	}
	for i := range t.keys {
		k := &t.keys[i]
		k.composed = len(t.keys) > 1
		if strings.EqualFold(k.Type, "INTEGER") && !k.isRowid && !k.composed {
			k.Type = "INT" // INTEGER PRIMARY KEY would take whole numbers only
		}
		if ours.MatchString(k.Name) {
			return fmt.Errorf("the key column %s of %s has a name that the side table needs for itself", k.Name, t.name)
		}
	}
	if !t.keyIsRowid && !withoutRowid {
		t.uniques = append(t.uniques, unique{[]string{rowid}, []string{""}})
	}
	return c.describeUniques(t)
}

// isRowidAlias tells whether the only key column is the rowid by another name,
// which INTEGER PRIMARY KEY is, but for DESC and other spellings of INT.
func (c *conn) isRowidAlias(t *table, declared string) bool {
	if !strings.EqualFold(declared, "INTEGER") {
		return false
	}
	indexed := false
	err := c.run("SELECT 1 FROM pragma_index_list(?1, ?2) WHERE origin = 'pk'", func([]value) error {
		indexed = true
		return nil
	}, t.name, t.schema)
	return err == nil && !indexed
}

func (c *conn) describeUniques(t *table) error {
	var names []string
	err := c.run(`SELECT name FROM pragma_index_list(?1, ?2) WHERE "unique" AND NOT (origin = 'pk' AND ?3)`, func(row []value) error {
		names = append(names, row[0].text())
		return nil
	}, t.name, t.schema, !t.keyIsRowid)
	if err != nil {
		return err
	}
	for _, name := range names {
		var u unique
		whole := true
		err := c.run("SELECT name, coll FROM pragma_index_xinfo(?1, ?2) WHERE key", func(row []value) error {
			if row[0].null() {
				whole = false // an expression
			}
			u.columns = append(u.columns, quote(row[0].text()))
			u.collations = append(u.collations, row[1].text())
			return nil
		}, name, t.schema)
		if err != nil {
			return err
		}
		if whole {
			t.uniques = append(t.uniques, u)
		}
	}
	return nil
}

// plainType is a declared type that can be repeated as it is.
func plainType(declared string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_]*( [A-Za-z0-9_]+)*( ?\([0-9, ]+\))?$`).MatchString(declared) {
		return declared
	}
	upper := strings.ToUpper(declared)
	for _, affinity := range []struct{ part, name string }{{"INT", "INT"}, {"CHAR", "TEXT"}, {"CLOB", "TEXT"}, {"TEXT", "TEXT"}, {"BLOB", "BLOB"}, {"REAL", "REAL"}, {"FLOA", "REAL"}, {"DOUB", "REAL"}} {
		if strings.Contains(upper, affinity.part) {
			return affinity.name
		}
	}
	return "NUMERIC"
}

// settle brings the registry and the schema to what attach was told, short of
// filling the rows in, and returns the attachment that is to be filled.
func (c *conn) settle(t *table, column, name string, o *options) (*attachment, error) {
	a := &attachment{schemaName: t.schema, Name: name, Table: t.name, Column: column, State: stateFilling, generation: 1,
		Keys: t.keys, KeyIsRowid: t.keyIsRowid, Uniques: t.uniques}
	a.settings = settings{Profile: "words bits=8", SI: []string{}, Policy: "ignore", Mode: "compute", Extract: "plain"}
	if p, err := storedProfile(""); err == nil {
		a.Profile = p.String()
	}
	old, err := c.findReference(reference{t.schema, name}, "state <> 'next' AND name = "+literal(name))
	if err == nil {
		now, err := c.tableNow(old)
		if err != nil {
			return nil, err
		}
		if now != "" && !strings.EqualFold(now, t.name) || now == "" && !strings.EqualFold(old.Table, t.name) {
			return nil, fmt.Errorf("the name %s is taken by an attachment of %s", name, old.Table)
		}
		if !strings.EqualFold(old.Column, column) && now != "" && c.columnNow(old, t) != column {
			return nil, fmt.Errorf("%s is attached to the column %s; give the other column a name of its own", name, old.Column)
		}
		a.settings = old.settings
		a.ProfileID, a.generation, a.State = old.ProfileID, old.generation, old.State
		if a.Keys, err = old.keysNow(t); err != nil {
			return nil, err
		}
	} else if !strings.HasPrefix(err.Error(), "nothing is attached") {
		return nil, err
	} else {
		old = nil
	}
	if err := o.apply(&a.settings); err != nil {
		return nil, err
	}
	if a.profile, err = sketch.ParseProfile(a.Profile); err != nil {
		return nil, err
	}
	if a.variants, err = aspect.Parse(a.profile, a.SI); err != nil {
		return nil, err
	}
	if a.Where != "" {
		if err := c.checkWhere(t, a.Where); err != nil {
			return nil, err
		}
	}
	a.stamp = rand.Int64()
	return a, c.atomically(func() error {
		if err := c.exec(a.sql("registry")); err != nil {
			return err
		}
		if err := c.run("INSERT OR IGNORE INTO "+a.Schema()+".alike_settings(profile) VALUES (?1)", nil, a.Profile); err != nil {
			return err
		}
		if err := c.run("SELECT id FROM "+a.Schema()+".alike_settings WHERE profile = ?1", func(row []value) error {
			a.ProfileID = row[0].i
			return nil
		}, a.Profile); err != nil {
			return err
		}
		if old == nil {
			if err := c.makeSide(a); err != nil {
				return err
			}
			return c.register(a, true)
		}
		if old.needsRebuild(a) {
			// The one in use stays as it is, with the policy it has, until the
			// other is complete.
			if err := c.abandonNext(a); err != nil {
				return err
			}
			a.State, a.generation = stateNext, old.generation+1
			if err := c.exec(a.sql("side")); err != nil {
				return err
			}
			return c.register(a, false)
		}
		if err := c.exec(a.sql("match")); err != nil {
			return err
		}
		return c.register(a, true)
	})
}

// makeSide makes the tables and views of a new attachment, or takes up those
// that a detach has kept.
func (c *conn) makeSide(a *attachment) error {
	var kept []string
	if err := c.run("SELECT name FROM pragma_table_info(?1, ?2) ORDER BY cid", func(row []value) error {
		kept = append(kept, row[0].text())
		return nil
	}, a.object(""), a.schemaName); err != nil {
		return err
	}
	if kept == nil {
		return c.exec(a.sql("side") + a.sql("match") + a.sql("views"))
	}
	var wanted []string
	for _, k := range a.Keys {
		wanted = append(wanted, k.Name)
	}
	for _, column := range append([]string{"profile"}, a.columns(a.Indexes())...) {
		wanted = append(wanted, strings.Trim(column, `"`))
	}
	if !slices.Equal(kept, wanted) {
		return fmt.Errorf("there is a table %s already, with other columns than this attachment has; drop it, or give the attachment another name", a.object(""))
	}
	// The fill makes the indexes again when it has brought the rows up to date.
	drop := ""
	if err := c.run("SELECT name FROM pragma_index_list(?1, ?2) WHERE origin = 'c'", func(row []value) error {
		drop += "DROP INDEX " + a.In(quote(row[0].text())) + ";"
		return nil
	}, a.object(""), a.schemaName); err != nil {
		return err
	}
	for _, view := range []string{"pair", "feature"} {
		drop += "DROP VIEW IF EXISTS " + a.In(a.Object(view)) + ";"
	}
	return c.exec(drop + a.sourceView() + a.sql("match") + a.sql("views"))
}

// needsRebuild tells whether rows computed under the old settings are useless
// under the new.
func (a *attachment) needsRebuild(with *attachment) bool {
	return a.Profile != with.Profile || !slices.Equal(a.SI, with.SI) || a.Extract != with.Extract || a.Where != with.Where
}

// register writes an attachment into the registry and, where told, makes its
// triggers anew. While rows are filled in there are no indexes for a policy.
func (c *conn) register(a *attachment, triggers bool) error {
	si, err := json.Marshal(a.SI)
	if err != nil {
		return err
	}
	var atLeast any
	if a.AtLeast != nil {
		atLeast = *a.AtLeast
	}
	var where any
	if a.Where != "" {
		where = a.Where
	}
	err = c.run("INSERT OR REPLACE INTO "+a.Schema()+".alike_attachment VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, CAST(strftime('%s', 'now') AS INTEGER))",
		nil, a.Name, a.State, a.Table, a.Column, a.ProfileID, string(si), a.Policy, atLeast, a.Mode, where, a.Extract, a.generation, a.stamp)
	if err != nil || !triggers {
		return err
	}
	if err := c.dropTriggers(a); err != nil {
		return err
	}
	with := *a
	if a.State == stateFilling {
		with.Policy = "ignore"
	}
	if a.Mode != "queue" {
		// What it holds has no row in the side table, so the fill finds it.
		if err := c.exec("DROP TABLE IF EXISTS " + a.In(a.Queue())); err != nil {
			return err
		}
	}
	return c.exec(with.sql("triggers"))
}

var triggerNames = []string{"insert", "update", "delete", "rekey", "before_insert", "before_update", "after_update", "gone", "changed"}

func (c *conn) dropTriggers(a *attachment) error {
	for _, name := range triggerNames {
		if err := c.exec("DROP TRIGGER IF EXISTS " + a.In(a.Object(name))); err != nil {
			return err
		}
	}
	return nil
}

// abandonNext forgets a change that was begun and not finished.
func (c *conn) abandonNext(a *attachment) error {
	next := *a
	next.State = stateNext
	if err := c.exec("DROP VIEW IF EXISTS " + a.In(next.Source()) + "; DROP TABLE IF EXISTS " + a.In(next.Side())); err != nil {
		return err
	}
	return c.run("DELETE FROM "+a.Schema()+".alike_attachment WHERE name = ?1 AND state = 'next'", nil, a.Name)
}

// checkWhere compiles the condition by itself, so that a mistake in it is
// reported as what it is.
func (c *conn) checkWhere(t *table, where string) error {
	s, err := c.prepare("SELECT 1 FROM " + quote(t.schema) + "." + quote(t.name) + " WHERE (\n" + where + "\n)")
	if err != nil {
		return fmt.Errorf("where: %w", err)
	}
	s.close()
	return nil
}

// columnNow finds the present name of the attached column in the view over
// the documents, which follows a renaming.
func (c *conn) columnNow(a *attachment, t *table) string {
	text := ""
	err := c.run("SELECT sql FROM "+a.Schema()+".sqlite_master WHERE type = 'view' AND name = ?1", func(row []value) error {
		text = row[0].text()
		return nil
	}, a.object("source"))
	if err != nil {
		return a.Column
	}
	for _, column := range t.columns {
		if strings.Contains(text, ", "+quote(column)+" FROM ") {
			return column
		}
	}
	return a.Column
}

// atomically runs work in a savepoint of the caller's transaction, or in a
// transaction of its own.
func (c *conn) atomically(work func() error) (err error) {
	if err := c.exec("SAVEPOINT alike"); err != nil {
		return err
	}
	done := false
	defer func() {
		if done {
			return
		}
		// SQLite may have rolled everything back already.
		if undone := c.exec("ROLLBACK TO alike; RELEASE alike"); undone != nil && err == nil {
			err = undone
		}
	}()
	if err := work(); err != nil {
		return err
	}
	if err := c.exec("RELEASE alike"); err != nil {
		return err
	}
	done = true
	return nil
}
