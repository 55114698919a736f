package sqlext

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// table is a table of the user's.
type table struct {
	schema, name string
	columns      []string
	keys         keys
	uniques      []unique
}

// unique is a constraint of the user's table through which a REPLACE can remove
// a row of another key without a trigger.
type unique struct{ columns, collations []string }

// findTable looks a table up as SQL does, and learns its key.
func (c *conn) findTable(ref reference) (*table, error) {
	schemas, err := c.searched(ref)
	if err != nil {
		return nil, err
	}
	for _, schema := range schemas {
		t := &table{schema: schema}
		kind, text := "", ""
		err := c.Run("SELECT name, type, sql FROM "+sqlite.Quote(schema)+".sqlite_master WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')", func(row []sqlite.Value) error {
			t.name, kind, text = row[0].Text(), row[1].Text(), row[2].Text()
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
	if has, err := c.HasColumn(t.schema, "alike_attachment", "name"); err != nil || !has {
		return err
	}
	ours := false
	if err := c.Run(inSchema(t.schema, "is_ours"), func([]sqlite.Value) error { ours = true; return nil }, t.name); err != nil {
		return err
	}
	if ours {
		return fmt.Errorf("%s is a table of an attachment", t.name)
	}
	return nil
}

// hasTable tells whether a schema has a table or a view of a name.
func (c *conn) hasTable(schema, name string) (bool, error) {
	s, err := c.Cached("SELECT 1 FROM " + sqlite.Quote(schema) + ".sqlite_master WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')")
	if err != nil {
		return false, err
	}
	defer s.Done()
	has := false
	err = s.Each(func([]sqlite.Value) error { has = true; return nil }, name)
	return has, err
}

// column finds a column, by its name as SQL compares it.
func (t *table) column(name string) (string, error) {
	plain := name
	if ref, err := parseReference(name); err == nil && ref.schema == "" {
		plain = ref.name
	}
	for _, spelling := range []string{name, plain} {
		for _, column := range t.columns {
			if strings.EqualFold(column, spelling) {
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
	err := c.Run("SELECT name, type, pk, hidden FROM pragma_table_xinfo(?1, ?2) ORDER BY cid", func(row []sqlite.Value) error {
		columns = append(columns, column{row[0].Text(), row[1].Text(), row[2].Int()})
		t.columns = append(t.columns, row[0].Text())
		return nil
	}, t.name, t.schema)
	if err != nil {
		return err
	}
	used := func(name string) bool {
		return slices.ContainsFunc(t.columns, func(other string) bool { return strings.EqualFold(other, name) })
	}
	withoutRowid := false
	rowid := rowidName(used)
	if rowid == "" {
		withoutRowid = true // the same for us: no name reaches it
	} else if s, err := c.Prepare("SELECT " + rowid + " FROM " + sqlite.Quote(t.schema) + "." + sqlite.Quote(t.name)); forbidden(err) {
		return err
	} else if err != nil {
		withoutRowid = true
	} else {
		s.Close()
	}
	slices.SortStableFunc(columns, func(x, y column) int { return int(x.pk - y.pk) })
	for _, col := range columns {
		if col.pk > 0 {
			k := key{Name: col.name, Expr: sqlite.Quote(col.name), Type: plainType(col.declared)}
			if k.Collate, err = c.Collation(t.schema, t.name, col.name); err != nil {
				return err
			}
			t.keys = append(t.keys, k)
		}
	}
	if len(t.keys) == 1 && !withoutRowid {
		alias, err := c.isRowidAlias(t, columns[slices.IndexFunc(columns, func(col column) bool { return col.pk == 1 })].declared)
		if err != nil {
			return err
		}
		if alias {
			t.keys[0].isRowid, t.keys[0].Type, t.keys[0].Collate = true, "INTEGER", ""
		}
	}
	if len(t.keys) == 0 {
		if withoutRowid {
			return fmt.Errorf("%s has no key: its columns hide the rowid", t.name)
		}
		t.keys = keys{{Name: "docid", Expr: rowid, Type: "INTEGER", isRowid: true}}
	}
	for i := range t.keys {
		k := &t.keys[i]
		k.composed = len(t.keys) > 1
		if strings.EqualFold(k.Type, "INTEGER") && !k.isRowid && !k.composed {
			k.Type = "INT" // INTEGER PRIMARY KEY would take whole numbers only
		}
		if reservedColumns.MatchString(k.Name) {
			return fmt.Errorf("the key column %s of %s has the name of a column of the side table", k.Name, t.name)
		}
	}
	if !t.keys.Rowid() && !withoutRowid {
		t.uniques = append(t.uniques, unique{[]string{rowid}, []string{""}})
	}
	return c.describeUniques(t)
}

// rowidName is a name of the rowid that no column has.
func rowidName(used func(string) bool) string {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !used(name) {
			return name
		}
	}
	return ""
}

// isRowidAlias tells whether the only key column is the rowid by another name,
// which INTEGER PRIMARY KEY is, but for DESC and other spellings of INT.
func (c *conn) isRowidAlias(t *table, declared string) (bool, error) {
	if !strings.EqualFold(declared, "INTEGER") {
		return false, nil
	}
	indexed := false
	err := c.Run("SELECT 1 FROM pragma_index_list(?1, ?2) WHERE origin = 'pk'", func([]sqlite.Value) error {
		indexed = true
		return nil
	}, t.name, t.schema)
	return !indexed, err
}

// forbidden tells whether the host's authorizer has refused something.
func forbidden(err error) bool {
	var coded *sqlite.Error
	return errors.As(err, &coded) && coded.Code == sqlite.CodeAuth
}

func (c *conn) describeUniques(t *table) error {
	var names []string
	err := c.Run(`SELECT name FROM pragma_index_list(?1, ?2) WHERE "unique" AND NOT (origin = 'pk' AND ?3)`, func(row []sqlite.Value) error {
		names = append(names, row[0].Text())
		return nil
	}, t.name, t.schema, !t.keys.Rowid())
	if err != nil {
		return err
	}
	for _, name := range names {
		var u unique
		ofColumns := true
		err := c.Run("SELECT name, coll FROM pragma_index_xinfo(?1, ?2) WHERE key", func(row []sqlite.Value) error {
			if row[0].Null() {
				ofColumns = false // an expression
			}
			u.columns = append(u.columns, sqlite.Quote(row[0].Text()))
			u.collations = append(u.collations, row[1].Text())
			return nil
		}, name, t.schema)
		if err != nil {
			return err
		}
		if ofColumns {
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

// reservedColumns matches the names of columns that the aspect's own tables have.
var reservedColumns = regexp.MustCompile(`(?i)^(profile|content_hash|shingles|sketch|sketched_at|[fg][0-9]+|si_.*|other|other_.*|slot|feature|document|shared|resemblance|low|high|policy|matched_at|verdict|note|marked_at|marked_by|queued_at|omitted|relation|unique_.*|alike__.*|this|marked)$`)

// searched lists the databases in which a name is looked up: its own, or all where it has none.
func (c *conn) searched(ref reference) ([]string, error) {
	all, err := c.schemas()
	if err != nil || ref.schema == "" {
		return all, err
	}
	if !slices.ContainsFunc(append(all, "temp"), func(name string) bool { return strings.EqualFold(name, ref.schema) }) {
		return nil, fmt.Errorf("there is no database %s", ref.schema)
	}
	return []string{ref.schema}, nil
}

// schemas lists the databases of the connection in the order in which SQL looks
// a name up.
func (c *conn) schemas() ([]string, error) {
	var list []string
	temp := false
	s, err := c.Cached("PRAGMA database_list")
	if err != nil {
		return nil, err
	}
	defer s.Done()
	err = s.Each(func(row []sqlite.Value) error {
		if name := row[1].Text(); name == "temp" {
			temp = true
		} else {
			list = append(list, name)
		}
		return nil
	})
	if temp {
		list = append([]string{"temp"}, list...)
	}
	return list, err
}
