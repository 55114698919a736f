package sqlext

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/alike-sql/alike/sketch/cluster"
	"github.com/alike-sql/alike/sqlext/internal/sqlite"
)

// keep is alike_keep: every attached row with the row that stands for it.
func keep(c *conn, args []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	rule := "oldest"
	if !args[1].Null() {
		if args[1].Kind != sqlite.Text {
			return nil, fmt.Errorf("the rule is %s, want text", args[1].Describe())
		}
		rule = args[1].Text()
	}
	if rule == "contains" {
		return c.keepContaining(a, &args[0], &args[2])
	}
	limit, err := a.limit(&args[2])
	if err != nil {
		return nil, err
	}
	ranked, linkage := a.sql("ranked_by_key"), cluster.First
	switch rule {
	case "oldest", "verdict":
	case "popular":
		linkage = cluster.Popular
	case "newest":
		ranked = a.sql("ranked_newest")
	case "longest":
		ranked = a.sql("ranked_longest")
	default:
		if ranked, err = c.rankedBy(a, rule); err != nil {
			return nil, err
		}
	}
	rows, err := c.numberRows(a, ranked)
	if err != nil {
		return nil, err
	}
	known := pairLinks
	if rule == "verdict" {
		known = judgedLinks
	}
	linker, err := c.linkPairs(a, limit, cluster.LinkerOptions{Linkage: linkage}, rows, known)
	if err != nil {
		return nil, err
	}
	defer linker.Close()
	kept := make([]int32, len(rows.list)) // by number; 0 stays, or the number of the other plus 1
	resemblances := make([]float64, len(rows.list))
	if err := linker.Keep(context.Background(), func(i, other int, resemblance float64) error {
		kept[i] = int32(other) + 1
		resemblances[i] = resemblance
		return nil
	}); err != nil {
		return nil, err
	}
	return c.keptRows(a, rows, kept, resemblances)
}

// keepContaining leaves out the rows that are contained in a row that is kept, whatever
// that has beside them. The longest rows are kept first; the documents say how much of a
// row that goes is in the row that stands for it.
func (c *conn) keepContaining(a *attachment, table, atLeast *sqlite.Value) (sqlite.Source, error) {
	q, err := c.containing(table, atLeast)
	if err != nil {
		return nil, err
	}
	marks, err := c.verdicts(a)
	if err != nil {
		return nil, err
	}
	rows, err := c.numberRows(a, a.sql("ranked_longest"))
	if err != nil {
		return nil, err
	}
	kept := make([]int32, len(rows.list))
	containments := make([]float64, len(rows.list))
	for i, row := range rows.list {
		part, err := q.ofRow(row)
		if err != nil {
			return nil, err
		}
		list, err := q.containers(part)
		if err != nil {
			return nil, err
		}
		for _, h := range list {
			n, ok := rows.number(h.row)
			duplicate, judged := marks[[2]int64{min(row, h.row), max(row, h.row)}]
			if !ok || n >= i || kept[n] > 0 || judged && !duplicate {
				continue
			}
			containment, known, err := q.exactly(part, &containee{row: h.row})
			if err != nil {
				return nil, err
			}
			if known && containment >= q.atLeast {
				kept[i], containments[i] = int32(n)+1, containment
				break
			}
		}
	}
	return c.keptRows(a, rows, kept, containments)
}

func (c *conn) keptRows(a *attachment, rows *numbered, kept []int32, resemblances []float64) (sqlite.Source, error) {
	s, err := c.ask(a, "rows_to_keep", "")
	if err != nil {
		return nil, err
	}
	return &keptRows{StatementRows: sqlite.StatementRows{Statement: s}, c: c, a: a, rows: rows, kept: kept, resemblances: resemblances}, s.Bind()
}

// oneWord is what a misspelt rule looks like, and a rule that is empty.
var oneWord = regexp.MustCompile(`^\s*\w*\s*$`)

// rankedBy is the statement that gives the rows by an expression of the caller's on the
// columns of the table, the greatest first.
func (c *conn) rankedBy(a *attachment, rule string) (string, error) {
	if strings.ContainsRune(rule, 0) {
		return "", fmt.Errorf("rule: the expression has a zero byte")
	}
	now, err := c.adopt(a)
	if err != nil {
		return "", err
	}
	t, err := c.findTable(reference{now.schema, now.Table})
	if err != nil {
		return "", err
	}
	if column, err := t.column(rule); err == nil {
		rule = sqlite.Quote(column)
	} else if err := c.checkExpression(t, "rule", rule); err != nil {
		if oneWord.MatchString(rule) {
			return "", fmt.Errorf("rule: %.60q is no rule, column or expression; the rules are oldest, newest, longest, contains, popular and verdict", rule)
		}
		return "", err
	}
	return now.fragments(fragments{Item: rule}).sql("ranked"), nil
}

// keptRows are the rows of the table, in its order.
type keptRows struct {
	sqlite.StatementRows
	c            *conn
	a            *attachment
	rows         *numbered
	kept         []int32
	resemblances []float64
}

func (k *keptRows) Next(b *sqlite.Batch) (bool, error) {
	keys, err := k.c.keyReader(k.a)
	if err != nil {
		return false, err
	}
	defer keys.Done()
	for !b.Full() {
		more, err := k.Step()
		if err != nil || !more {
			return false, err
		}
		row := k.Columns()
		cells := b.Row()
		b.SetAny(&cells[0], row[0].Copy())
		b.SetAny(&cells[1], row[0].Copy())
		if row[1].Null() {
			continue // nothing is known of it
		}
		cells[2].SetFloat(1)
		if i, ok := k.rows.number(row[1].Int()); ok && k.kept[i] > 0 {
			if err := keys.set(b, &cells[1], k.rows.list[k.kept[i]-1]); err != nil {
				return false, err
			}
			cells[2].SetFloat(k.resemblances[i])
		}
	}
	return true, nil
}
