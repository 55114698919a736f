package sqlext

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/simindex"
	"github.com/alike-sql/alike/sketch/verify"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// attachment is a row of the registry: one aspect of one table.
type attachment struct {
	schema string
	settings
	Name       string
	Table      string
	Column     string
	ProfileID  int64  // the number of the profile and of
	tokens     uint16 // the fingerprint of the tokens of its sketches
	State      string // filling, ready, or next: being built beside the one in use
	generation int64
	stamp      int64
	Keys       keys
	Uniques    []unique // of the table as it is now
	profile    sketch.Profile
	variants   []simindex.Variant
	broken     error // why nothing can be asked of it
	waits      bool  // for its clusters to be computed afresh; until then none are kept
}

const (
	stateFilling = "filling"
	stateReady   = "ready"
	stateNext    = "next"
)

// The conditions on the registry under which attachments are looked up.
const (
	inUse       = "a.state <> 'next'"
	inUseByName = "a.name = ?1 AND a.state <> 'next'"
	nextByName  = "a.name = ?1 AND a.state = 'next'"
	// The table's present name is in its triggers, which follow a renaming.
	inUseByTable = `(a."table" = ?1 OR a.name IN (SELECT substr(t.name, 1, length(t.name) - 13) FROM %s.sqlite_master t
		WHERE t.type = 'trigger' AND t.tbl_name = ?1 COLLATE NOCASE AND t.name LIKE '%%\_alike\_insert' ESCAPE '\')) AND a.state <> 'next'`
)

// attachments reads the registry of a schema where the condition holds. A schema
// without a registry has no attachments.
func (c *conn) attachments(schema, condition string, args ...any) ([]*attachment, error) {
	if has, err := c.HasColumn(schema, "alike_attachment", "name"); err != nil || !has {
		return nil, err
	}
	s, err := c.Cached(c.registered(schema) + " WHERE " + condition + " ORDER BY a.name")
	if err != nil {
		return nil, err
	}
	defer s.Done()
	var list []*attachment
	if err := s.Each(func(row []sqlite.Value) error {
		name := attachmentName{schema, row[1].Text(), row[0].Text()}
		a := c.cache.attachment(name, row[13].Int())
		if a == nil {
			a = readAttachment(schema, row)
		}
		a.waits = row[23].Int() < 0
		list = append(list, a)
		return nil
	}, args...); err != nil {
		return nil, err
	}
	for _, a := range list {
		if a.Keys != nil || a.broken != nil {
			continue
		}
		err := c.readKeys(a)
		// What the file holds breaks an attachment; what stopped the statement stops this one.
		if stopped := (*sqlite.Error)(nil); errors.As(err, &stopped) && stopped.Code != sqlite.CodeError && stopped.Code != sqlite.CodeAuth {
			return nil, err
		}
		if a.broken = err; err == nil {
			c.cache.keep(a)
		}
	}
	return list, nil
}

// registered is the statement that reads the registry of a schema. Each checkin asks for it.
func (c *conn) registered(schema string) string {
	id := statementName{name: "attachment", item: schema}
	text, ok := c.cache.statements[id]
	if !ok {
		text = inSchema(schema, "attachment")
		c.cache.statements[id] = text
	}
	return text
}

// inSchema is a statement about a schema alone.
func inSchema(schema, name string) string { return (&attachment{schema: schema}).sql(name) }

// readAttachment reads a row of the registry. The file may come from elsewhere, so
// what it says is checked as what attach is told is.
func readAttachment(schema string, row []sqlite.Value) *attachment {
	a := &attachment{schema: schema, Name: row[0].Text(), State: row[1].Text(), Table: row[2].Text(), Column: row[3].Text(),
		ProfileID: row[4].Int(), generation: row[12].Int(), stamp: row[13].Int()}
	a.settings = settings{Profile: row[5].Text(), Policy: row[7].Text(), Mode: row[9].Text(), Where: row[10].Text(), Extract: row[11].Text(), Layout: row[22].Text()}
	a.Matches, a.tokens, a.Verify = int(row[14].Int()), uint16(row[15].Int()), row[16].Text()
	a.Contains, a.Superfeatures = row[17].Int() != 0, row[25].Int() != 0
	if a.Clusters = int(row[23].Int()); a.Clusters < 0 {
		a.Clusters = -a.Clusters
	}
	a.By = row[24].Text()
	if at, ok := row[8].Number(); ok {
		a.AtLeast = &at
	}
	if at, ok := row[27].Number(); ok || !row[26].Null() {
		a.Short = &verify.Short{Below: row[26].Int(), AtLeast: at}
	}
	a.Preset, a.Reason = row[18].Text(), row[20].Text()
	if recall, ok := row[19].Number(); ok {
		a.Recall = &recall
	}
	if a.Looked = math.MaxInt64; !row[21].Null() {
		a.Looked = row[21].Int()
	}
	err := json.Unmarshal(row[6].Bytes(), &a.SI)
	if err != nil {
		err = errors.New("the similarity indexes are not a JSON array of names")
	}
	if err == nil && !slices.Contains([]string{stateFilling, stateReady, stateNext}, a.State) {
		err = fmt.Errorf("the state is %.60q", a.State)
	}
	if err == nil && (row[15].Kind != sqlite.Integer || int64(a.tokens) != row[15].Int()) {
		err = fmt.Errorf("the fingerprint of the tokens is %s, want 0 to 65535", row[15].String())
	}
	if err == nil {
		err = checkName(a.Name)
	}
	if err == nil {
		a.profile, a.variants, err = a.settings.check()
	}
	if err != nil {
		a.broken = fmt.Errorf("the registry has no valid attachment %.60q: %w", a.Name, err)
		a.profile, a.variants = sketch.Profile{}, nil
	}
	return a
}

// checkName refuses names that no object can have.
func checkName(name string) error {
	if name == "" || len(name) > 200 || strings.ContainsRune(name, 0) {
		return fmt.Errorf("the name is %.60q, want 1 to 200 characters without a zero byte", name)
	}
	return nil
}

// notAttached is the error of a name to which nothing is attached.
type notAttached struct{ name, schema, elsewhere string }

func (e *notAttached) Error() string {
	text := "nothing is attached to " + e.name
	if e.schema != "" {
		text += " in " + e.schema
	}
	if e.elsewhere != "" {
		return text + "; " + e.elsewhere + " is attached"
	}
	return text + "; alike_attach(table, column) attaches a table"
}

// find returns the attachment that a caller names: by its own name, or by its
// table's when that has one only.
func (c *conn) find(v *sqlite.Value) (*attachment, error) {
	ref, err := readReference(v)
	if err != nil {
		return nil, err
	}
	a, err := c.findAny(ref)
	if err == nil && a.broken != nil {
		err = a.broken
	}
	return a, err
}

// findAny also finds an attachment that is broken, which detach ends. A name without
// a schema means what it means to SQLite: the first schema that has it, temp first.
func (c *conn) findAny(ref reference) (*attachment, error) {
	list, err := c.searched(ref)
	if err != nil {
		return nil, err
	}
	hidden := "" // the schema whose table of this name hides those after it
	for _, schema := range list {
		found, err := c.attachments(schema, inUseByName, ref.name)
		if err == nil && len(found) == 0 {
			found, err = c.attachments(schema, fmt.Sprintf(inUseByTable, sqlite.Quote(schema)), ref.name)
		}
		if err != nil {
			return nil, err
		}
		switch {
		case len(found) == 0:
			if hidden == "" && ref.schema == "" {
				if has, err := c.hasTable(schema, ref.name); err != nil {
					return nil, err
				} else if has {
					hidden = schema
				}
			}
		case hidden != "":
			return nil, &notAttached{ref.name, hidden, schema + "." + ref.name}
		case len(found) == 1:
			return found[0], nil
		default:
			names := make([]string, len(found))
			for i, a := range found {
				names[i] = a.Name
			}
			return nil, fmt.Errorf("%s has %d attachments; name one of them: %s", ref.name, len(names), strings.Join(names, ", "))
		}
	}
	return nil, &notAttached{name: ref.name, schema: ref.schema}
}

// next is the change of an attachment that is not complete, or nil.
func (c *conn) next(a *attachment) (*attachment, error) {
	found, err := c.attachments(a.schema, nextByName, a.Name)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], found[0].broken
}

// tableNow is the present name of the attached table; it is empty when the
// table is gone, and its triggers with it.
func (c *conn) tableNow(a *attachment) (string, error) {
	name := ""
	err := c.Run("SELECT tbl_name FROM "+sqlite.Quote(a.schema)+".sqlite_master WHERE type = 'trigger' AND name = ?1", func(row []sqlite.Value) error {
		name = row[0].Text()
		return nil
	}, a.Name+"_alike_insert")
	return name, err
}

// sourceNow is the view over the documents, which follows a renaming; it is empty
// when the view is gone.
func (c *conn) sourceNow(a *attachment) (text string, err error) {
	err = c.Run("SELECT sql FROM "+sqlite.Quote(a.schema)+".sqlite_master WHERE type = 'view' AND name = ?1", func(row []sqlite.Value) error {
		text = row[0].Text()
		return nil
	}, a.object("source"))
	return text, err
}

// columnNow is the present name of the attached column.
func (c *conn) columnNow(a *attachment, t *table) string {
	text, err := c.sourceNow(a)
	if err != nil {
		return a.Column
	}
	for _, column := range t.columns {
		if strings.Contains(text, ", "+sqlite.Quote(column)+" FROM ") {
			return column
		}
	}
	return a.Column
}

// whereNow is the condition with the present names of its columns.
func (c *conn) whereNow(a *attachment) (string, error) {
	if a.Where == "" {
		return "", nil
	}
	text, err := c.sourceNow(a)
	if _, where, ok := strings.Cut(text, " AND (\n"); ok {
		if end := strings.LastIndex(where, "\n)"); end >= 0 {
			return where[:end], err
		}
	}
	return a.Where, err
}

// adopt completes an attachment from the registry with what its table is now.
func (c *conn) adopt(a *attachment) (*attachment, error) {
	now, err := c.tableNow(a)
	if err != nil {
		return nil, err
	}
	if now == "" {
		return nil, a.gone("table", a.Table)
	}
	t, err := c.findTable(reference{a.schema, now})
	if err != nil {
		return nil, err
	}
	adopted := *a
	adopted.Table, adopted.Uniques = t.name, t.uniques
	adopted.Column = c.columnNow(a, t)
	if _, err := t.column(adopted.Column); err != nil {
		return nil, fmt.Errorf("the column %s of %s, attached as %s, is gone; alike_detach(%s) removes the attachment", a.Column, now, a.Name, literal(a.Name))
	}
	if adopted.Keys, err = a.Keys.now(a, t); err != nil {
		return nil, err
	}
	if adopted.Where, err = c.whereNow(a); err == nil && adopted.Where != "" {
		err = c.checkWhere(t, adopted.Where)
	}
	return &adopted, err
}

// register writes an attachment into the registry and, where told, makes its
// triggers anew. While rows are filled in there are no indexes for a policy.
func (c *conn) register(a *attachment, triggers bool) error {
	si, err := json.Marshal(a.SI)
	if err != nil {
		return err
	}
	var atLeast, where, recall, reason, looked, below, shortAtLeast any
	if a.AtLeast != nil {
		atLeast = *a.AtLeast
	}
	if a.Short != nil {
		below, shortAtLeast = a.Short.Below, a.Short.AtLeast
	}
	if a.Recall != nil {
		recall = *a.Recall
	}
	if a.Where != "" {
		where = a.Where
	}
	if a.Reason != "" {
		reason = a.Reason
	}
	if a.Looked != math.MaxInt64 {
		looked = a.Looked
	}
	if err := c.Run(a.sql("register"), nil, a.Name, a.State, a.Table, a.Column, a.ProfileID, string(si), a.Policy, atLeast, a.Mode, where, a.Extract, a.generation, a.stamp, a.Matches,
		a.Verify, a.Contains, a.Preset, recall, reason, looked, a.Layout, -a.Clusters, a.By, a.Superfeatures, below, shortAtLeast); err != nil || !triggers {
		return err
	}
	if err := c.Exec(a.statements("drop_triggers")); err != nil {
		return err
	}
	with := *a
	if a.State == stateFilling {
		with.Policy, with.Contains, with.settings.Clusters = "ignore", false, 0
	}
	if err := c.rememberUniques(a); err != nil {
		return err
	}
	if err := c.keepValues(&with, false); err != nil {
		return err
	}
	if with.settings.Clusters > 0 {
		if err := c.Exec(with.statements("cluster_tables")); err != nil {
			return err
		}
	}
	return c.Exec(with.statements("triggers"))
}

// rememberUniques makes the table of what is unique in each row, unless it is there
// as it should be.
func (c *conn) rememberUniques(a *attachment) error {
	same, there, err := c.uniquesAreKnown(a)
	if err != nil || same {
		return err
	}
	var statements []string
	if there {
		statements = append(statements, a.sql("rename_unique"))
	}
	if len(a.Uniques) > 0 {
		statements = append(statements, a.sql("unique"), a.sql("fill_unique"))
	}
	return c.Exec(statements)
}

// uniquesAreKnown tells whether that table is the one for the constraints that the
// user's table has now, and whether there is one at all.
func (c *conn) uniquesAreKnown(a *attachment) (same, there bool, err error) {
	columns := func(sql string) string {
		_, columns, _ := strings.Cut(sql, "(\n")
		return columns
	}
	err = c.Run("SELECT sql FROM "+sqlite.Quote(a.schema)+".sqlite_master WHERE type = 'table' AND name = ?1", func(row []sqlite.Value) error {
		there = true
		same = len(a.Uniques) > 0 && columns(row[0].Text()) == columns(a.sql("unique"))
		return nil
	}, (&attachment{Name: a.Name}).object("unique"))
	return same || !there && len(a.Uniques) == 0, there, err
}

// needsRebuild tells whether rows computed under the old settings are useless
// under the new.
func (a *attachment) needsRebuild(with *attachment) bool {
	return a.Profile != with.Profile || !slices.Equal(a.SI, with.SI) || a.Extract != with.Extract || a.Where != with.Where || a.Layout != with.Layout || a.Superfeatures != with.Superfeatures
}

func (a *attachment) threshold() float64 {
	switch {
	case a.AtLeast != nil:
		return *a.AtLeast
	case a.Recall != nil:
		preset, _ := sketch.PresetOf(a.Preset)
		return preset.AtLeast
	}
	return a.profile.AtLeast()
}

// limit is the threshold of a question, and whether the question says it.
type limit struct {
	atLeast float64
	said    bool
}

// limit reads the argument at_least.
func (a *attachment) limit(v *sqlite.Value) (limit, error) {
	if v.Null() {
		return limit{atLeast: a.threshold()}, nil
	}
	d, err := v.Fraction("at_least")
	if err == nil && d == 0 {
		err = errors.New("at_least is 0, want above 0")
	}
	return limit{d, true}, err
}

// contains tells whether the profile estimates containment.
func (a *attachment) contains() bool {
	return a.profile.Family == sketch.Mod || a.profile.Family == sketch.Scaled
}

// number finds or assigns the number of the profile under the tokens of this build.
func (c *conn) number(a *attachment) error {
	a.tokens = a.profile.TokensFingerprint()
	if err := c.Run(a.sql("add_profile"), nil, a.Profile, int64(a.tokens)); err != nil {
		return err
	}
	if b := a.boilerplate; b != nil {
		if err := c.Run(a.sql("add_boilerplate"), nil, int64(b.Fingerprint()), b.Stored()); err != nil {
			return err
		}
	}
	return c.Run(a.sql("profile_id"), func(row []sqlite.Value) error {
		a.ProfileID = row[0].Int()
		return nil
	}, a.Profile, int64(a.tokens))
}

// elsewhere reports whether a build that makes other tokens attached the table, or
// refreshed it last: its rows are stale.
func (a *attachment) elsewhere() bool { return a.tokens != a.profile.TokensFingerprint() }

// takeOver makes the rows that such a build sketched stale, so that the fill sketches them.
func (c *conn) takeOver(a *attachment) error {
	if !a.elsewhere() {
		return nil
	}
	return c.Atomically(func() error {
		if err := c.number(a); err != nil {
			return err
		}
		a.stamp = rand.Int64()
		return c.register(a, a.State != stateNext)
	})
}

// RowSettings is what alike__row is told.
func (a *attachment) RowSettings() string {
	text := fmt.Sprintf("%s\n%s\n%s\n%d\n%d", a.Profile, strings.Join(a.SI, ","), a.Extract, a.ProfileID, a.tokens)
	if a.Superfeatures {
		text += withSuperfeatures
	}
	return text
}
