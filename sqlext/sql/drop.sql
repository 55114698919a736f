{{define "drop_triggers"}}
DROP TRIGGER IF EXISTS {{.In (.Object "insert")}}{{.Next}}
DROP TRIGGER IF EXISTS {{.In (.Object "update")}}{{.Next}}
DROP TRIGGER IF EXISTS {{.In (.Object "moved")}}{{.Next}}
DROP TRIGGER IF EXISTS {{.In (.Object "delete")}}{{.Next}}
DROP TRIGGER IF EXISTS {{.In (.Object "rekey")}}{{.Next}}
DROP TRIGGER IF EXISTS {{.In (.Object "touched")}}{{.Next}}
DROP TRIGGER IF EXISTS {{.In (.Object "unique_changed")}}{{.Next}}
DROP TRIGGER IF EXISTS {{.In (.Object "replaced")}}{{.Next}}
DROP TRIGGER IF EXISTS {{.In (.Object "gone")}}{{.Next}}
DROP TRIGGER IF EXISTS {{.In (.Object "changed")}}{{.Next}}
DROP TRIGGER IF EXISTS {{.In (.Object "valued")}}{{.Next}}
DROP TRIGGER IF EXISTS {{.In (.Object "value_moved")}}{{.Next}}
{{- range list "leave" "change" "changed" "join" "moved"}}
DROP TRIGGER IF EXISTS {{$.In ($.Object (print "cluster_" .))}}{{$.Next}}
{{- end}}
{{end}}

{{define "drop_queue"}}DROP TABLE IF EXISTS {{.In .Queue}}{{end}}

{{- /* A change that was begun and not finished. */ -}}
{{define "forget_next"}}DELETE FROM {{.Schema}}.alike_attachment WHERE name = ?1 AND state = 'next'{{end}}
{{define "drop_next"}}DROP TABLE IF EXISTS {{.In .Side}}{{end}}

{{define "drop_source"}}DROP VIEW IF EXISTS {{.In .Source}}{{end}}

{{define "drop_views"}}DROP VIEW IF EXISTS {{.In (.Object "pair")}}{{.Next}}DROP VIEW IF EXISTS {{.In (.Object "feature")}}{{end}}

{{- /* What works only while the table is attached. */ -}}
{{define "drop_working"}}{{template "drop_queue" .}}{{.Next}}{{template "drop_old" .}}{{.Next}}{{template "drop_values" .}}{{.Next}}{{template "drop_unique" .}}{{end}}
{{define "drop_values"}}DROP TABLE IF EXISTS {{.In .Values}}{{end}}
{{define "drop_unique"}}{{template "drop_old_unique" .}}{{.Next}}DROP TABLE IF EXISTS {{.In .Unique}}{{end}}
{{define "rename_unique"}}ALTER TABLE {{.In .Unique}} RENAME TO {{.Object "unique_old"}}{{end}}
{{define "drop_old_unique"}}DROP TABLE IF EXISTS {{.In (.Object "unique_old")}}{{end}}

{{define "drop_data"}}{{template "drop_views" .}}{{.Next}}DROP TABLE IF EXISTS {{.In .Match}}{{.Next}}{{template "drop_clusters" .}}{{.Next}}DROP TABLE IF EXISTS {{.In .Mark}}{{.Next}}DROP TABLE IF EXISTS {{.In .Side}}{{end}}

{{define "drop_index"}}DROP INDEX {{.In (quote .Item)}}{{end}}

{{- /*
  The side table of a change takes the place of the one in use. The legacy rename
  leaves views of the user's on the side table alone, which are to mean the new one.
*/ -}}
{{define "switch"}}ALTER TABLE {{.In .InUse}} RENAME TO {{.Old}}{{.Next}}DROP VIEW {{.In .Source}}{{.Next}}ALTER TABLE {{.In .Side}} RENAME TO {{.InUse}}{{end}}
{{define "drop_old"}}DROP TABLE IF EXISTS {{.In .Old}}{{end}}
