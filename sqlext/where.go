package sqlext

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// checkWhere refuses what is not one expression on the columns of the table, with the
// same value whenever it is asked: SQLite takes it between parentheses, as an operand
// of CAST, which no text is that closes the parenthesis before its end, and as the
// condition of a partial index, which has no subquery, parameter or random function. A
// name in double quotes is a column.
func (c *conn) checkWhere(t *table, where string) error { return c.checkExpression(t, "where", where) }

func (c *conn) checkExpression(t *table, what, where string) error {
	if len(wordsOf(where)) == 0 {
		return fmt.Errorf("%s: the condition is empty", what)
	}
	if err := checkTime(where); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	name := sqlite.Quote(t.schema) + "." + sqlite.Quote(t.name)
	return c.StrictQuotes(func() error {
		for _, sql := range []string{
			"SELECT 1 FROM " + name + " WHERE (\n" + where + "\n)",
			"SELECT CAST(\n" + where + "\nAS INTEGER) FROM " + name,
			"CREATE INDEX " + sqlite.Quote(t.schema) + `."alike: condition" ON ` + sqlite.Quote(t.name) + "(" + sqlite.Quote(t.columns[0]) + ") WHERE (\n" + where + "\n)",
		} {
			s, err := c.Prepare(sql)
			if err != nil {
				return fmt.Errorf("%s: %w", what, plainly(err))
			}
			s.Close()
		}
		return nil
	})
}

// tryWhere evaluates the condition that attach was told for every row, so that one for
// which it fails is heard of before anything is made. A condition in the file is
// evaluated in the view alone: in a statement of ours it could call any function.
func (c *conn) tryWhere(a *attachment) error {
	if a.Where == "" {
		return nil
	}
	if err := c.Run("SELECT count(*) FROM "+sqlite.Quote(a.schema)+"."+sqlite.Quote(a.Table)+" WHERE (\n"+a.Where+"\n)", nil); err != nil {
		return fmt.Errorf("where: %w", err)
	}
	return nil
}

// plainly is an error of SQLite's without the index, of which the user knows nothing.
func plainly(err error) error {
	var coded *sqlite.Error
	if errors.As(err, &coded) {
		return &sqlite.Error{Code: coded.Code, Text: strings.Replace(coded.Text, " prohibited in partial index WHERE clauses", " are prohibited", 1)}
	}
	return err
}

// checkTime refuses a condition that asks what time it is, or where: SQLite does in an
// index and in a check, but only while it runs, and a row would come in or leave
// without being touched.
func checkTime(condition string) error {
	const refusal = "%s changes with the time or the place; a condition means one thing for ever, so compare with a time that is written out"
	words := wordsOf(condition)
	for i, w := range words {
		name := strings.ToLower(w)
		switch name {
		case "current_date", "current_time", "current_timestamp":
			return fmt.Errorf(refusal, w)
		}
		name = strings.Trim(name, "\"`[]")
		if !slices.Contains([]string{"date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"}, name) || i+1 == len(words) || words[i+1] != "(" {
			continue
		}
		arguments, depth, end := 0, 0, i+1
		for ; end < len(words); end++ {
			if words[end] == ")" {
				if depth--; depth == 0 {
					break
				}
			}
			switch strings.ToLower(words[end]) {
			case "(":
				depth++
				continue
			case ",":
				if depth == 1 {
					arguments++
				}
				continue
			case "'now'", "'localtime'", "'utc'":
				return fmt.Errorf(refusal, name+"("+words[end]+")")
			}
			arguments = max(arguments, 1)
		}
		if arguments == 0 || name == "strftime" && arguments == 1 {
			return fmt.Errorf(refusal, strings.Join(words[i:min(end+1, len(words))], ""))
		}
	}
	return nil
}

// wordsOf are the words of an expression as SQLite reads it: names, texts and quoted
// names with their quotes, and every other character by itself. Blanks and comments are
// left out.
func wordsOf(s string) []string {
	var list []string
	for s != "" {
		n := 1
		switch c := s[0]; {
		case strings.HasPrefix(s, "--"):
			n = through(s, 2, "\n")
			s = s[n:]
			continue
		case strings.HasPrefix(s, "/*"):
			n = through(s, 2, "*/")
			s = s[n:]
			continue
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
			s = s[1:]
			continue
		case c == '\'' || c == '"' || c == '`':
			n = through(s, 1, string(c))
		case c == '[':
			n = through(s, 1, "]")
		case isWord(c):
			for n < len(s) && isWord(s[n]) {
				n++
			}
		}
		list, s = append(list, s[:n]), s[n:]
	}
	return list
}

// through is how much of s goes up to the end of the first mark from a place on.
func through(s string, from int, mark string) int {
	if i := strings.Index(s[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	return len(s)
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
