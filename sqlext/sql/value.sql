{{- /* What is sampled of the passages of each row, for the questions on containment. */ -}}
{{define "values"}}CREATE TABLE {{.In .Values}}(
  value INTEGER NOT NULL,
{{- range .Keys}}
  {{.Column}},
{{- end}}
  PRIMARY KEY (value, {{.Keys.List ""}})
) WITHOUT ROWID{{end}}
{{define "clear_values"}}DELETE FROM {{.In .Values}}{{end}}
{{- /* Both b-trees are written in their order: in any other each entry of a large table touches a cold page. */ -}}
{{define "fill_values"}}INSERT OR IGNORE INTO {{.In .Values}}(value, {{.Keys.List ""}})
SELECT j.value, {{.Keys.List "s"}} FROM {{.In .Side}} a CROSS JOIN {{.In .Source}} s ON {{.Keys.Same "a" "s"}} CROSS JOIN json_each(alike__passages(s.document, {{text .RowSettings}})) j
ORDER BY j.value, {{.Keys.List "s"}}{{.Next}}
CREATE INDEX IF NOT EXISTS {{.In (.Object "value_key")}} ON {{.Object "value"}}({{.Keys.List ""}}){{end}}
{{- /* How many of the values given each row has. */ -}}
{{define "rows_with_values"}}SELECT s.{{.Row}}, v.matches, s.shingles FROM (
  SELECT {{.Keys.List "v"}}, count(*) AS matches FROM alike__list(?1) l CROSS JOIN {{.In .Values}} v ON v.value = l.number GROUP BY {{.Keys.List "v"}}
) v CROSS JOIN {{.In .Side}} s ON {{.Keys.Same "s" "v"}}{{end}}
{{- /* How many rows have each of the values given, counted up to ?2. */ -}}
{{define "rows_of_values"}}SELECT l.number, (SELECT count(*) FROM (SELECT 1 FROM {{.In .Values}} v WHERE v.value = l.number LIMIT ?2)) FROM alike__list(?1) l{{end}}
{{define "first_rows_with_value"}}SELECT s.{{.Row}}, s.shingles FROM (SELECT {{.Keys.List ""}} FROM {{.In .Values}} WHERE value = ?1 ORDER BY {{.Keys.List ""}} LIMIT ?2) v CROSS JOIN {{.In .Side}} s ON {{.Keys.Same "s" "v"}}{{end}}
{{define "values_in_row"}}SELECT count(*) FROM {{.In .Side}} s CROSS JOIN alike__list(?1) l CROSS JOIN {{.In .Values}} v ON v.value = l.number AND ({{.Keys.Same "v" "s"}}) WHERE s.{{.Row}} = ?2{{end}}
{{- /* The values of a row. */ -}}
{{define "values_of_row"}}SELECT v.value FROM {{.In .Side}} s CROSS JOIN {{.In .Values}} v ON {{.Keys.Same "v" "s"}} WHERE s.{{.Row}} = ?1 ORDER BY 1{{end}}
{{define "rows_in_order"}}SELECT {{.Row}} FROM {{.In .Side}} WHERE sketch IS NOT NULL ORDER BY {{.Row}}{{end}}
{{define "shingles_of_row"}}SELECT shingles FROM {{.In .Side}} WHERE {{.Row}} = ?1{{end}}
{{- /* Records that row ?1 contains row ?2, or is contained in it. */ -}}
{{define "record_held"}}INSERT INTO {{.In .Match}}({{.Keys.List ""}}, {{.Keys.Others ""}}, shared, resemblance, low, high, omitted, relation, policy, matched_at)
SELECT {{.Keys.List "a"}}, {{.Keys.OthersAs "b"}}, {{.SharedFeatures "a" "b"}}, ?3, ?4, ?5, ?6, ?7, {{text .Policy}}, a.sketched_at FROM {{.In .Side}} a CROSS JOIN {{.In .Side}} b WHERE a.{{.Row}} = ?1 AND b.{{.Row}} = ?2{{end}}
{{define "key_of_row"}}SELECT {{.Keys.Value "s"}} FROM {{.In .Side}} s WHERE s.{{.Row}} = ?1{{end}}
