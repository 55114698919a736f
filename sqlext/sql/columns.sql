{{- /* The layout columns: each feature is a column of the side table with an index. */ -}}

{{- /* The features as plain SQL sees them, without the extension. */ -}}
{{define "views"}}{{if .InParts}}{{template "views_of_parts" .}}{{else}}CREATE VIEW {{.In (.Object "pair")}}({{.Keys.List ""}}, {{.Keys.Others ""}}, slot) AS
{{.Union "pairs_of_feature"}}{{.Next}}
CREATE VIEW {{.In (.Object "feature")}}({{.Keys.List ""}}, slot, feature) AS
{{.Union "rows_of_feature"}}{{end}}{{end}}
{{define "pairs_of_feature"}}SELECT {{.Keys.List "a"}}, {{.Keys.OthersAs "b"}}, {{.Number}} AS slot FROM {{.Side}} a JOIN {{.Side}} b ON b.{{.Item}} = a.{{.Item}} AND b.{{.Row}} <> a.{{.Row}}{{end}}
{{define "rows_of_feature"}}SELECT {{.Keys.List ""}}, {{.Number}} AS slot, {{.Item}} AS feature FROM {{.Side}} WHERE {{.Item}} IS NOT NULL{{end}}

{{- /* The rows that share a feature with the features given, and how many of them. */ -}}
{{define "probe"}}{{if .InParts}}{{template "probe_of_parts" .}}{{else}}SELECT this, count(*) FROM ({{.Union "rows_with_feature"}}) GROUP BY this{{end}}{{end}}
{{define "rows_with_feature"}}SELECT {{.Row}} AS this FROM {{.In .Side}} {{.IndexedBy .Item}} WHERE {{.Item}} = ?{{.Number}}{{end}}

{{- /* One feature of every row, equal ones together. */ -}}
{{define "runs"}}SELECT {{.Item}}, {{.Row}} FROM {{.In .Side}} {{.IndexedBy .Item}} WHERE {{.Item}} IS NOT NULL ORDER BY {{.Item}}{{end}}

{{- /* What many rows share of one feature. */ -}}
{{define "hot"}}SELECT {{.Item}}, count(*), min({{.Row}}) FROM {{.In .Side}} {{.IndexedBy .Item}} WHERE {{.Item}} IS NOT NULL GROUP BY {{.Item}} HAVING count(*) >= ?1{{end}}

{{- /* The newest rows that share one feature with the row of a checkin. */ -}}
{{define "newest_with_feature"}}SELECT * FROM (SELECT d.{{.Row}} AS this FROM {{.Side}} x CROSS JOIN {{.Side}} d {{.IndexedBy .Item}} WHERE {{.Keys.Is "x" .Event}} AND (d.{{.Item}} = x.{{.Item}} AND d.{{.Row}} <> x.{{.Row}}) ORDER BY d.{{.Row}} DESC LIMIT {{.Newest}}){{end}}
