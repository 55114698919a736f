{{define "stored_key"}}SELECT {{.Keys.List ""}} FROM {{.In .Source}} WHERE {{.Keys.Is "" "?"}}{{end}}

{{define "count_documents"}}SELECT count(*) FROM {{.In .Source}}{{end}}

{{define "count_keyless"}}SELECT count(*) FROM {{.In (quote .Table)}} WHERE {{.Keys.Missing}}{{end}}

{{define "outdated"}}(a.profile IS NULL OR a.profile <> {{.ProfileID}} OR {{template "damaged" .}}{{if .Hash}} OR a.content_hash IS NOT alike__content_hash(s.document){{end}}){{end}}
{{define "damaged"}}alike__damaged(a.sketch, a.shingles, {{text .RowSettings}}){{end}}

{{define "count_damaged"}}SELECT count(*) FROM {{.In .Side}} a WHERE {{template "damaged" .}}{{end}}

{{define "first_damaged"}}SELECT {{.Keys.Value "a"}} FROM {{.In .Side}} a WHERE {{template "damaged" .}} LIMIT 1{{end}}

{{- /* Rows of another profile, or of another build. */ -}}
{{define "count_stale"}}SELECT count(*) FROM {{.In .Side}} WHERE profile IS NOT (SELECT id FROM {{.Schema}}.alike_settings WHERE profile = ?1 AND tokens = ?2){{end}}

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

{{- /* What is unique in rows that no trigger has seen. */ -}}
{{define "delete_unique_orphans"}}DELETE FROM {{.In .Unique}} WHERE ({{.Keys.List ""}}) IN (SELECT {{.Keys.InTable ""}} FROM {{.In (quote .Table)}}) IS NOT 1{{end}}
{{define "complete_unique"}}INSERT INTO {{.In .Unique}} SELECT {{.Keys.InTable "t"}}, {{.UniqueColumns "t"}} FROM {{.In (quote .Table)}} t WHERE {{.Keys.Known}}
ON CONFLICT ({{.Keys.List ""}}) DO UPDATE SET {{.UniqueExcluded}} WHERE ({{.UniqueList}}) IS NOT ({{.UniqueNew}}){{end}}

{{- /*
  The triggers on the table that are newer than ours: SQLite fires them first, and
  RAISE(IGNORE) or RAISE(FAIL) in them keeps a row from ours.
*/ -}}
{{define "newer_triggers"}}SELECT t.name, t.sql FROM {{.Schema}}.sqlite_master o JOIN {{.Schema}}.sqlite_master t ON t.rowid > o.rowid
WHERE (o.type = 'trigger' AND o.name = ?2) AND (t.type = 'trigger' AND t.tbl_name = ?1 COLLATE NOCASE){{end}}
