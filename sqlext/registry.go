package sqlext

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/aspect"
)

// schemas lists the databases of the connection in the order in which SQL looks
// a name up.
func (c *conn) schemas() ([]string, error) {
	var list []string
	temp := false
	err := c.run("PRAGMA database_list", func(row []value) error {
		if name := row[1].text(); name == "temp" {
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

var errNoRegistry = errors.New("no registry")

// attachments reads the registry of a schema where the condition holds.
func (c *conn) attachments(schema, condition string, args ...any) ([]*attachment, error) {
	query, ok := c.registry[schema+"."+condition]
	if !ok {
		query = attachment{schemaName: schema}.sql("attachment") + " WHERE " + condition
		c.registry[schema+"."+condition] = query
	}
	s, err := c.cached(query)
	if err != nil {
		if strings.Contains(err.Error(), "no such table") {
			return nil, errNoRegistry
		}
		return nil, err
	}
	defer s.done()
	var list []*attachment
	err = s.each(func(row []value) error {
		if known := c.known[schema+"."+row[1].text()+"."+row[0].text()]; known != nil && known.stamp == row[13].i {
			list = append(list, known)
			return nil
		}
		a := &attachment{schemaName: schema, Name: row[0].text(), State: row[1].text(), Table: row[2].text(), Column: row[3].text(),
			ProfileID: row[4].i, generation: row[12].i, stamp: row[13].i}
		a.settings = settings{Profile: row[5].text(), Policy: row[7].text(), Mode: row[9].text(), Where: row[10].text(), Extract: row[11].text()}
		if err := json.Unmarshal(row[6].bytes(), &a.SI); err != nil {
			return fmt.Errorf("alike_attachment: the indexes of %s: %w", a.Name, err)
		}
		if at, ok := row[8].number(); ok {
			a.AtLeast = &at
		}
		list = append(list, a)
		return nil
	}, args...)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if a.Keys != nil {
			continue
		}
		if a.profile, err = sketch.ParseProfile(a.Profile); err != nil {
			return nil, err
		}
		if a.variants, err = aspect.Parse(a.profile, a.SI); err != nil {
			return nil, err
		}
		if err := c.readKeys(a); err != nil {
			return nil, err
		}
		if len(c.known) >= 256 {
			clear(c.known)
		}
		c.known[schema+"."+a.State+"."+a.Name] = a
	}
	return list, nil
}

// readKeys learns the key from the side table, whose first columns it is.
func (c *conn) readKeys(a *attachment) error {
	rowid := false
	err := c.run("SELECT name, type, pk FROM pragma_table_info(?1, ?2) ORDER BY cid", func(row []value) error {
		if row[0].text() == "profile" || rowid {
			rowid = true
			return nil
		}
		a.Keys = append(a.Keys, key{Name: row[0].text(), Type: row[1].text(), isRowid: row[2].i == 1 && strings.EqualFold(row[1].text(), "INTEGER")})
		return nil
	}, a.object(""), a.schemaName)
	if err != nil {
		return err
	}
	if len(a.Keys) == 0 {
		return fmt.Errorf("%s is registered, but its table %s is gone; alike_detach(%s) clears it away", a.Name, a.object(""), literal(a.Name))
	}
	a.KeyIsRowid = len(a.Keys) == 1 && a.Keys[0].isRowid
	for i := range a.Keys {
		a.Keys[i].composed = len(a.Keys) > 1
		a.Keys[i].isRowid = a.KeyIsRowid
	}
	return nil
}

// find returns the attachment that a caller names: by its own name, or by its
// table's when that has one only.
func (c *conn) find(v *value) (*attachment, error) {
	if v.kind != typeText {
		return nil, fmt.Errorf("the table is %s, want a name", v.describe())
	}
	ref, err := parseReference(v.text())
	if err != nil {
		return nil, err
	}
	return c.findReference(ref, "state <> 'next'")
}

func (c *conn) findReference(ref reference, state string) (*attachment, error) {
	list := []string{ref.schema}
	if ref.schema == "" {
		// The usual case goes without a look at the list of databases.
		if found, err := c.attachments("main", "name = ?1 AND "+state, ref.name); err == nil && len(found) == 1 {
			return found[0], nil
		}
		var err error
		if list, err = c.schemas(); err != nil {
			return nil, err
		}
	}
	for _, schema := range list {
		found, err := c.attachments(schema, "name = ?1 AND "+state, ref.name)
		if err == errNoRegistry {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			// The table's present name is in its triggers, which follow a renaming.
			found, err = c.attachments(schema, `("table" = ?1 OR EXISTS (SELECT 1 FROM `+quote(schema)+`.sqlite_master t
				WHERE t.type = 'trigger' AND t.tbl_name = ?1 COLLATE NOCASE AND t.name = a.name || '_alike_insert')) AND `+state, ref.name)
			if err != nil {
				return nil, err
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		names := make([]string, len(found))
		for i, a := range found {
			names[i] = a.Name
		}
		return nil, fmt.Errorf("%s has %d attachments, name one of them: %s", ref.name, len(names), strings.Join(names, ", "))
	}
	if ref.schema != "" {
		return nil, fmt.Errorf("nothing is attached to %s in %s", ref.name, ref.schema)
	}
	return nil, fmt.Errorf("nothing is attached to %s", ref.name)
}

// tableNow is the present name of the attached table; it is empty when the
// table is gone, and its triggers with it.
func (c *conn) tableNow(a *attachment) (string, error) {
	name := ""
	err := c.run("SELECT tbl_name FROM "+a.Schema()+".sqlite_master WHERE type = 'trigger' AND name = ?1", func(row []value) error {
		name = row[0].text()
		return nil
	}, a.Name+"_alike_insert")
	return name, err
}

// findAny is find for detach, which also ends an attachment whose tables are
// not all there any more.
func (c *conn) findAny(v *value) (*attachment, error) {
	a, err := c.find(v)
	if err == nil || !strings.Contains(err.Error(), "is gone; alike_detach") {
		return a, err
	}
	ref, refErr := parseReference(v.text())
	if refErr != nil {
		return nil, refErr
	}
	schemas, listErr := c.schemas()
	if listErr != nil {
		return nil, listErr
	}
	for _, schema := range schemas {
		if ref.schema != "" && !strings.EqualFold(ref.schema, schema) {
			continue
		}
		var found *attachment
		query := "SELECT name, state FROM " + quote(schema) + `.alike_attachment WHERE state <> 'next' AND (name = ?1 OR "table" = ?1)`
		if c.run(query, func(row []value) error {
			found = &attachment{schemaName: schema, Name: row[0].text(), State: row[1].text()}
			return nil
		}, ref.name) == nil && found != nil {
			return found, nil
		}
	}
	return nil, err
}
