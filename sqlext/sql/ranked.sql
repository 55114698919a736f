{{- /* The rows that have a sketch, in the order in which they are preferred. */ -}}
{{define "ranked_by_key"}}SELECT {{.Row}} FROM {{.In .Side}} WHERE sketch IS NOT NULL ORDER BY {{.Keys.List ""}}{{end}}
{{define "ranked_newest"}}SELECT {{.Row}} FROM {{.In .Side}} WHERE sketch IS NOT NULL ORDER BY {{.Keys.Descending}}{{end}}
{{define "ranked_longest"}}SELECT {{.Row}} FROM {{.In .Side}} WHERE sketch IS NOT NULL ORDER BY shingles DESC, {{.Keys.List ""}}{{end}}
{{- /* The item is an expression on the columns of the table. */ -}}
{{define "ranked"}}WITH t({{.Keys.List ""}}, alike__rank) AS (SELECT {{.Keys.InTable ""}}, (
{{.Item}}
) FROM {{.In (quote .Table)}})
SELECT s.{{.Row}} FROM {{.In .Side}} s JOIN t ON {{.Keys.Same "s" "t"}} WHERE s.sketch IS NOT NULL ORDER BY t.alike__rank DESC, {{.Keys.List "s"}}{{end}}
{{- /* Every attached row with its row of the side table, if it has one. */ -}}
{{define "rows_to_keep"}}SELECT {{.Keys.Value "k"}}, s.{{.Row}} FROM {{.In .Source}} k LEFT JOIN {{.In .Side}} s ON {{.Keys.Same "s" "k"}} AND s.sketch IS NOT NULL{{end}}
