{{define "note_error"}}INSERT INTO {{.Schema}}.alike_error VALUES (?1, ?2, ?3, 1, CAST(strftime('%s', 'now') AS INTEGER))
ON CONFLICT (name, key) DO UPDATE SET message = excluded.message, attempts = attempts + 1, failed_at = excluded.failed_at{{end}}

{{define "clear_error"}}DELETE FROM {{.Schema}}.alike_error WHERE name = ?1 AND key = ?2{{end}}

{{define "clear_errors"}}DELETE FROM {{.Schema}}.alike_error WHERE name = ?1{{end}}

{{- /* The errors of rows that are computed by now, or gone. */ -}}
{{define "settle_errors"}}DELETE FROM {{.Schema}}.alike_error WHERE name = ?1 AND (key IN (SELECT {{.Keys.Value ""}} FROM {{.In .Side}}) OR key NOT IN (SELECT {{.Keys.Value ""}} FROM {{.In .Source}})){{end}}

{{define "errors"}}SELECT key, message, attempts, failed_at FROM {{.Schema}}.alike_error WHERE name = ?1 ORDER BY failed_at, key{{end}}

{{define "count_errors"}}SELECT count(*) FROM {{.Schema}}.alike_error WHERE name = ?1{{end}}
