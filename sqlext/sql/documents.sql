-- Rows of the side table, by a blob of their numbers.
SELECT l.position, s.sketch{{if not .Keys.Rowid}}, {{.Keys.List "s"}}{{end}}{{if .Item}}, {{.Item}}{{end}} FROM alike__list(?1) l CROSS JOIN {{.In .Side}} s ON s.{{.Row}} = l.number
