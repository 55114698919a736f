package sqlext

import "github.com/alike-sql/alike/sqlext/internal/sqlite"

// cache keeps what a connection has read of the registries and the statements that
// it has made. An attachment is valid while the registry has its stamp.
type cache struct {
	attachments map[attachmentName]*attachment
	statements  map[statementName]string
}

type attachmentName struct{ schema, state, name string }

type statementName struct {
	attachment *attachment
	name, item string
}

// maxCached bounds what is kept, for a program with very many attachments.
const maxCached = 256

func newCache() cache {
	return cache{attachments: map[attachmentName]*attachment{}, statements: map[statementName]string{}}
}

// attachment is the one known by a name, if that is still what the registry says.
func (k *cache) attachment(name attachmentName, stamp int64) *attachment {
	if a := k.attachments[name]; a != nil && a.stamp == stamp {
		return a
	}
	return nil
}

func (k *cache) keep(a *attachment) {
	if len(k.attachments) >= maxCached || len(k.statements) >= 100*maxCached {
		clear(k.attachments)
		clear(k.statements)
	}
	name := attachmentName{a.schema, a.State, a.Name}
	if old := k.attachments[name]; old != nil {
		k.forget(old)
	}
	k.attachments[name] = a
}

// forget drops an attachment and its statements.
func (k *cache) forget(a *attachment) {
	for name := range k.statements {
		if name.attachment == a {
			delete(k.statements, name)
		}
	}
	if name := (attachmentName{a.schema, a.State, a.Name}); k.attachments[name] == a {
		delete(k.attachments, name)
	}
}

// ask returns a kept statement about an attachment, or about one of its columns.
func (c *conn) ask(a *attachment, name, column string) (*sqlite.Statement, error) {
	id := statementName{a, name, column}
	text, ok := c.cache.statements[id]
	if !ok {
		text = a.fragments(fragments{Item: column}).sql(name)
		if c.cache.attachments[attachmentName{a.schema, a.State, a.Name}] == a {
			c.cache.statements[id] = text
		}
	}
	return c.Cached(text)
}

// each runs a kept statement about an attachment and hands each of its rows to a function.
func (c *conn) each(a *attachment, name string, row func([]sqlite.Value) error, args ...any) error {
	s, err := c.ask(a, name, "")
	if err != nil {
		return err
	}
	defer s.Done()
	return s.Each(row, args...)
}
