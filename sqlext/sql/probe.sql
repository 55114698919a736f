{{- /* The rows that share a feature with the features given, and how many of them. */ -}}
SELECT this, count(*) FROM ({{.Union "rows_with_feature"}}) GROUP BY this
{{define "rows_with_feature"}}SELECT {{.Row}} AS this FROM {{.In .Side}} {{.IndexedBy .Item}} WHERE {{.Item}} = ?{{.Number}}{{end}}
