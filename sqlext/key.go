package sqlext

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// key is a column of the key: its name in the side table, and the expression
// for it in the user's.
type key struct {
	Name     string
	Expr     string // a quoted column, or an alias of rowid
	Type     string
	Collate  string
	isRowid  bool
	composed bool // one of several columns
}

// keys are the columns of a key, in the order of the primary key.
type keys []key

// Rowid tells whether the key is the INTEGER PRIMARY KEY of the side table.
func (list keys) Rowid() bool { return len(list) == 1 && list[0].isRowid }

// Row is the name of the side table's rowid.
func (list keys) Row() string {
	if list.Rowid() {
		return sqlite.Quote(list[0].Name)
	}
	return rowidName(func(name string) bool {
		return slices.ContainsFunc(list, func(k key) bool { return strings.EqualFold(k.Name, name) })
	})
}

func (k key) declared() string {
	s := sqlite.Quote(k.Name)
	if k.Type != "" {
		s += " " + k.Type
	}
	if k.Collate != "" && !strings.EqualFold(k.Collate, "BINARY") {
		s += " COLLATE " + sqlite.Quote(k.Collate)
	}
	return s
}

// blobs says whether the column is one for blobs, or for anything.
func (k key) blobs() bool { return k.Type == "" || strings.Contains(strings.ToUpper(k.Type), "BLOB") }

// Definition is the column in the side table.
func (k key) Definition() string {
	if k.isRowid {
		return sqlite.Quote(k.Name) + " INTEGER PRIMARY KEY"
	}
	return k.declared() + " NOT NULL"
}

// Column and OtherColumn are the columns in the tables about pairs.
func (k key) Column() string { return k.declared() + " NOT NULL" }

// Optional is the column where it may be NULL.
func (k key) Optional() string { return k.declared() }

func (k key) OtherColumn() string {
	k.Name = k.other()
	return k.Column()
}

func (k key) name() string { return k.Name }

func (k key) other() string {
	if k.composed {
		return "other_" + k.Name
	}
	return "other"
}

func qualified(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

func (list keys) join(separator string, each func(k key) string) string {
	parts := make([]string, len(list))
	for i, k := range list {
		parts[i] = each(k)
	}
	if separator == " AND " {
		return balanced(separator, parts)
	}
	return strings.Join(parts, separator)
}

func (list keys) List(prefix string) string {
	return list.join(", ", func(k key) string { return qualified(prefix, sqlite.Quote(k.Name)) })
}

func (list keys) Descending() string {
	return list.join(", ", func(k key) string { return sqlite.Quote(k.Name) + " DESC" })
}

func (list keys) Others(prefix string) string {
	return list.join(", ", func(k key) string { return qualified(prefix, sqlite.Quote(k.other())) })
}

func (list keys) OthersAs(prefix string) string {
	return list.join(", ", func(k key) string { return qualified(prefix, sqlite.Quote(k.Name)) + " AS " + sqlite.Quote(k.other()) })
}

func (list keys) InTable(prefix string) string {
	return list.join(", ", func(k key) string { return qualified(prefix, k.Expr) })
}

func (list keys) Known() string {
	if list.Rowid() {
		return "1"
	}
	return list.join(" AND ", func(k key) string { return k.Expr + " IS NOT NULL" })
}

// Missing is true of a row whose key has a NULL.
func (list keys) Missing() string {
	if list.Rowid() {
		return "0"
	}
	return list.join(" OR ", func(k key) string { return k.Expr + " IS NULL" })
}

// Is compares the key of a side table with that of new, of old, or with
// parameters.
func (list keys) Is(prefix, row string) string {
	return list.equal(key.name, prefix, func(k key, i int) string { return given(k, row, i) })
}

// OtherIs does the same for the other key of a pair.
func (list keys) OtherIs(prefix, row string) string {
	return list.equal(key.other, prefix, func(k key, i int) string { return given(k, row, i) })
}

func given(k key, row string, i int) string {
	if row == "?" {
		return "?" + strconv.Itoa(i+1)
	}
	return row + "." + k.Expr
}

// InTableIs compares the key of the user's table with that of new or of old, and
// InTableSame with that of a table of ours.
func (list keys) InTableIs(prefix, row string) string {
	return list.compare(func(k key) string { return qualified(prefix, k.Expr) }, func(k key, i int) string { return given(k, row, i) })
}

func (list keys) InTableSame(prefix, ours string) string {
	return list.compare(func(k key) string { return qualified(prefix, k.Expr) }, func(k key, _ int) string { return qualified(ours, sqlite.Quote(k.Name)) })
}

// Same compares the keys of p and q.
func (list keys) Same(p, q string) string {
	return list.equal(key.name, p, func(k key, _ int) string { return qualified(q, sqlite.Quote(k.Name)) })
}

// SameOther compares the other key of p with the key of q.
func (list keys) SameOther(p, q string) string {
	return list.equal(key.other, p, func(k key, _ int) string { return qualified(q, sqlite.Quote(k.Name)) })
}

// equal compares columns of p with values.
func (list keys) equal(name func(key) string, p string, value func(k key, i int) string) string {
	return list.compare(func(k key) string { return qualified(p, sqlite.Quote(name(k))) }, value)
}

// compare makes an equality of two keys. A row value is less deep an expression than a
// conjunction of many.
func (list keys) compare(column func(key) string, value func(k key, i int) string) string {
	left, right := make([]string, len(list)), make([]string, len(list))
	for i, k := range list {
		left[i], right[i] = column(k), value(k, i)
	}
	switch len(list) {
	case 1:
		return left[0] + " = " + right[0]
	case 2:
		return left[0] + " = " + right[0] + " AND " + left[1] + " = " + right[1]
	}
	return "(" + strings.Join(left, ", ") + ") = (" + strings.Join(right, ", ") + ")"
}

// Parameters are the parameters of the n-th key given to a statement.
func (list keys) Parameters(n int) string {
	i := len(list) * (n - 1)
	return list.join(", ", func(key) string {
		i++
		return "?" + strconv.Itoa(i)
	})
}

func (list keys) Set(row string) string {
	return list.join(", ", func(k key) string { return sqlite.Quote(k.Name) + " = " + row + "." + k.Expr })
}

// SetSame gives the key that a row of ours has.
func (list keys) SetSame(row string) string {
	return list.join(", ", func(k key) string { return sqlite.Quote(k.Name) + " = " + row + "." + sqlite.Quote(k.Name) })
}

func (list keys) SetOther(row string) string {
	return list.join(", ", func(k key) string { return sqlite.Quote(k.other()) + " = " + row + "." + k.Expr })
}

// Value is the key as one value, as keyValue makes it.
func (list keys) Value(prefix string) string {
	return list.value(prefix, key.name)
}

// OtherValue is the same of the other row.
func (list keys) OtherValue(prefix string) string { return list.value(prefix, key.other) }

func (list keys) value(prefix string, name func(key) string) string {
	if len(list) == 1 {
		return qualified(prefix, sqlite.Quote(name(list[0])))
	}
	values := make([]string, len(list))
	for i, k := range list {
		column := qualified(prefix, sqlite.Quote(name(k)))
		values[i] = "CASE typeof(" + column + ") WHEN 'blob' THEN '" + hexadecimal + "' || lower(hex(" + column + ")) ELSE " + column + " END"
	}
	// The manual recommends to allow a function no more than eight arguments.
	array := "json_array(" + strings.Join(values[:min(8, len(values))], ", ") + ")"
	for i := 8; i < len(values); i += 3 {
		array = "json_insert(" + array + ", '$[#]', " + strings.Join(values[i:min(i+3, len(values))], ", '$[#]', ") + ")"
	}
	return array
}

// between limits the keys to those above and up to the parameters.
func (list keys) between(prefix string, above, upTo bool) string {
	first := 1
	compare := func(operator string) string {
		marks := make([]string, len(list))
		for i := range marks {
			marks[i] = "?" + strconv.Itoa(first)
			first++
		}
		return "(" + list.List(prefix) + ") " + operator + " (" + strings.Join(marks, ", ") + ")"
	}
	var parts []string
	if above {
		parts = append(parts, compare(">"))
	}
	if upTo {
		parts = append(parts, compare("<="))
	}
	if parts == nil {
		return "1"
	}
	return strings.Join(parts, " AND ")
}

// arguments reads a key: its value, or a JSON array of the values of several
// columns. A blob is the hexadecimal string that keyValue makes of it.
func (list keys) arguments(v *sqlite.Value) ([]any, error) {
	if len(list) == 1 {
		return []any{v}, nil
	}
	if v.Kind != sqlite.Text {
		return nil, fmt.Errorf("the key is %s, want a JSON array of %d values", v.Describe(), len(list))
	}
	d := json.NewDecoder(bytes.NewReader(v.Bytes()))
	d.UseNumber()
	var parts []any
	if err := d.Decode(&parts); err != nil || len(parts) != len(list) {
		return nil, fmt.Errorf("the key is %s, want a JSON array of %d values", v.Describe(), len(list))
	}
	for i, part := range parts {
		switch part := part.(type) {
		case json.Number:
			if n, err := part.Int64(); err == nil {
				parts[i] = n
			} else if d, err := part.Float64(); err == nil {
				parts[i] = d
			}
		case string:
			if digits, ok := strings.CutPrefix(part, hexadecimal); ok && list[i].blobs() {
				if b, err := hex.DecodeString(digits); err == nil {
					parts[i] = b
				}
			}
		case bool, nil:
		default:
			return nil, fmt.Errorf("the key is %s, want a JSON array of numbers and strings", v.Describe())
		}
	}
	return parts, nil
}

// storedKey is a key as the table has it, converted to its column's type.
func (c *conn) storedKey(a *attachment, v *sqlite.Value) ([]any, error) {
	key, err := a.Keys.arguments(v)
	if err != nil {
		return nil, err
	}
	var stored []any
	if err := c.Run(a.sql("stored_key"), func(row []sqlite.Value) error {
		stored = sqlite.Copies(row)
		return nil
	}, key...); err != nil {
		return nil, err
	}
	if stored == nil {
		return nil, fmt.Errorf("%s has no row %s", a.Table, v)
	}
	return stored, nil
}

// hexadecimal begins a blob in the JSON array of a key, as PostgreSQL writes a bytea.
const hexadecimal = `\x`

// keyValue is a key as one value: itself, or a JSON array of several columns.
func keyValue(key []any) (any, error) {
	if len(key) == 1 {
		return key[0], nil
	}
	list := make([]any, len(key))
	for i, v := range key {
		if b, ok := v.([]byte); ok {
			v = hexadecimal + hex.EncodeToString(b)
		}
		list[i] = v
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // as json_array writes it
	err := encoder.Encode(list)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// lessKey orders keys as SQLite does: numbers, text, blobs.
func lessKey(x, y any) bool {
	rank := func(v any) (int, float64, string) {
		switch v := v.(type) {
		case int64:
			return 0, float64(v), ""
		case float64:
			return 0, v, ""
		case string:
			return 1, 0, v
		case []byte:
			return 2, 0, string(v)
		}
		return -1, 0, ""
	}
	kx, nx, sx := rank(x)
	ky, ny, sy := rank(y)
	return cmp.Or(cmp.Compare(kx, ky), cmp.Compare(nx, ny), cmp.Compare(sx, sy)) < 0
}

// now is the key as the table has it now. A column that was renamed keeps its name
// in our tables.
func (list keys) now(a *attachment, t *table) (keys, error) {
	if len(t.keys) != len(list) || t.keys.Rowid() != list.Rowid() {
		return nil, fmt.Errorf("the key of %s has changed since %s was attached; detach it and attach it again", t.name, a.Name)
	}
	now := slices.Clone(t.keys)
	for i := range now {
		now[i].Name = list[i].Name
	}
	return now, nil
}

// readKeys learns the key from the side table, whose first columns it is.
func (c *conn) readKeys(a *attachment) error {
	end := false
	err := c.Run("SELECT name, type, pk FROM pragma_table_info(?1, ?2) ORDER BY cid", func(row []sqlite.Value) error {
		if end = end || row[0].Text() == "profile"; !end {
			a.Keys = append(a.Keys, key{Name: row[0].Text(), Type: plainType(row[1].Text()), isRowid: row[2].Int() == 1 && strings.EqualFold(row[1].Text(), "INTEGER")})
		}
		return nil
	}, a.object(""), a.schema)
	if err != nil {
		return err
	}
	if len(a.Keys) == 0 {
		return a.gone("table", a.object(""))
	}
	if len(a.Keys) > 1 {
		for i := range a.Keys {
			a.Keys[i].composed, a.Keys[i].isRowid = true, false
		}
	}
	return nil
}

// missing explains a key without a row: nothing is wrong when the row is not
// among those attached, or waits for a refresh.
func (c *conn) missing(a *attachment, key []any) error {
	if a.Where != "" {
		return nil
	}
	found := false
	if err := c.Run(a.sql("stored_key"), func([]sqlite.Value) error {
		found = true
		return nil
	}, key...); err != nil || found {
		return err
	}
	for i := range key {
		if v, ok := key[i].(*sqlite.Value); ok {
			key[i] = v.Copy()
		}
	}
	name, err := keyValue(key)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s has no row %v", a.Table, name)
}
