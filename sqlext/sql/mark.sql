{{- /* Whether the first key comes after the second, and whether they are one. */ -}}
{{define "order_of_keys"}}SELECT ({{.Keys.Parameters 1}}) > ({{.Keys.Parameters 2}}), ({{.Keys.Parameters 1}}) IS ({{.Keys.Parameters 2}}){{end}}

{{- /* A key that has changed since may have left the pair the other way round. */ -}}
{{define "unmark"}}DELETE FROM {{.In .Mark}} WHERE ({{.Keys.List ""}}, {{.Keys.Others ""}}) = ({{.Keys.Parameters 1}}, {{.Keys.Parameters 2}}){{end}}

{{define "mark"}}INSERT OR REPLACE INTO {{.In .Mark}} VALUES ({{.Keys.Parameters 1}}, {{.Keys.Parameters 2}}, ?, ?, CAST(strftime('%s', 'now') AS INTEGER), NULL){{end}}
