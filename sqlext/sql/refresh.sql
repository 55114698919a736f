{{define "stored_key"}}SELECT {{.Keys.List ""}} FROM {{.In .Source}} WHERE {{.Keys.Is "" "?"}}{{end}}

{{define "count_documents"}}SELECT count(*) FROM {{.In .Source}}{{end}}

{{define "count_rows"}}SELECT count(*) FROM {{.In .Side}}{{end}}

{{- /* Rows whose document is gone. */ -}}
{{define "delete_orphans"}}DELETE FROM {{.In .Side}} WHERE NOT EXISTS (SELECT 1 FROM {{.In .Source}} s WHERE {{.Keys.Same "s" (.In .Side)}}){{end}}

{{- /* The last key of the batch that begins after a key. */ -}}
{{define "batch_end"}}SELECT {{.Keys.List "s"}} FROM {{.In .Source}} s WHERE {{.Range "s"}} ORDER BY {{.Keys.List "s"}} LIMIT 1 OFFSET {{.Item}}{{end}}

{{- /* Without rows in a range the fill skips the comparison with them. */ -}}
{{define "is_fresh"}}SELECT NOT EXISTS (SELECT 1 FROM {{.In .Side}} s WHERE {{.Range "s"}}){{end}}

{{- /* Matches of rows that a new condition leaves out. */ -}}
{{define "delete_unmatched"}}DELETE FROM {{.In .Match}}
WHERE NOT EXISTS (SELECT 1 FROM {{.In .Side}} s WHERE {{.Keys.Same "s" (.In .Match)}})
   OR NOT EXISTS (SELECT 1 FROM {{.In .Side}} s WHERE {{.Keys.SameOther (.In .Match) "s"}}){{end}}

{{define "delete_row"}}DELETE FROM {{.In .Side}} WHERE {{.Keys.Is "" "?"}}{{end}}

{{define "count_queue"}}SELECT count(*), min(queued_at) FROM {{.In .Queue}}{{end}}

{{define "queued"}}SELECT {{.Keys.List ""}} FROM {{.In .Queue}} ORDER BY queued_at LIMIT ?1{{end}}

{{define "unqueue"}}DELETE FROM {{.In .Queue}} WHERE {{.Keys.Is "" "?"}}{{end}}
