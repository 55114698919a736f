-- The documents that attach looks at.
SELECT CASE WHEN typeof({{quote .Column}}) IN ('text', 'blob') THEN {{quote .Column}} ELSE CAST({{quote .Column}} AS TEXT) END
FROM {{.In (quote .Table)}} WHERE {{quote .Column}} IS NOT NULL AND {{.Keys.Known}}{{if .Where}} AND (
{{.Where}}
){{end}} ORDER BY {{.Keys.InTable ""}} LIMIT ?1
