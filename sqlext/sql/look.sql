{{- /*
  The documents that attach looks at. The condition is that of the statement that attaches;
  a condition in the file is asked through the view, where SQLite keeps it from calling
  functions that the host does not give to files.
*/ -}}
{{define "look"}}SELECT {{template "as_text" quote .Column}} FROM {{.In (quote .Table)}} WHERE {{quote .Column}} IS NOT NULL AND {{.Keys.Known}}{{if .Where}} AND (
{{.Where}}
){{end}} ORDER BY {{.Keys.InTable ""}} LIMIT ?1{{end}}
{{define "look_again"}}SELECT {{template "as_text" "document"}} FROM {{.In .Source}} WHERE document IS NOT NULL ORDER BY {{.Keys.List ""}} LIMIT ?1{{end}}
{{define "as_text"}}CASE WHEN typeof({{.}}) IN ('text', 'blob') THEN {{.}} ELSE CAST({{.}} AS TEXT) END{{end}}
