package sqlext

import "github.com/alike-sql/alike/sqlext/internal/sqlite"

// failures is alike_errors.
func failures(c *conn, args []sqlite.Value, _ sqlite.Want) (sqlite.Source, error) {
	a, err := c.find(&args[0])
	if err != nil {
		return nil, err
	}
	var list [][]any
	err = c.Run(a.sql("errors"), func(row []sqlite.Value) error {
		list = append(list, sqlite.Copies(row))
		return nil
	}, a.Name)
	return sqlite.Rows(len(list), func(b *sqlite.Batch, cells []sqlite.Value, i int) {
		for j := range cells {
			b.SetAny(&cells[j], list[i][j])
		}
	}), err
}
