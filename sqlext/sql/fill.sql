{{- /* Brings a range of rows up to date: what is missing, damaged, of another profile, or of another document. */ -}}
INSERT INTO {{.In .Side}}({{.SideColumns}})
SELECT {{.Keys.List "s"}}, {{.RowColumns "s.sketch"}} FROM (
{{- if .Fresh}}
  SELECT DISTINCT {{.Keys.List "s"}}, alike__row(s.document, {{text .RowSettings}}) AS sketch FROM {{.In .Source}} s WHERE {{.Range "s"}}
) s
{{- else}}
  SELECT DISTINCT {{.Keys.List "s"}}, alike__row(s.document, {{text .RowSettings}}) AS sketch FROM {{.In .Source}} s LEFT JOIN {{.In .Side}} a ON {{.Keys.Same "a" "s"}}
  WHERE {{.Range "s"}} AND {{template "outdated" .}}
) s WHERE true
ON CONFLICT ({{.Keys.List ""}}) DO UPDATE SET {{.SetExcluded}}
{{- end}}
