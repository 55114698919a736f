{{define "source"}}CREATE VIEW {{.In .Source}}({{.Keys.List ""}}, document) AS
SELECT {{.Keys.InTable ""}}, {{quote .Column}} FROM {{quote .Table}}
WHERE {{.Keys.Known}}{{if .Where}} AND (
{{.Where}}
){{end}}{{end}}
-- The side table of an attachment, and the documents it is about.
CREATE TABLE {{.In .Side}}(
{{- range .Keys}}
  {{.Definition}},
{{- end}}
  profile INTEGER NOT NULL,
  content_hash INTEGER,
  shingles INTEGER,
  sketch BLOB,
{{- range .Numbers}}
  {{.}} INTEGER,
{{- end}}
  sketched_at INTEGER NOT NULL
{{- if .OwnRow}},
  alike__row INTEGER PRIMARY KEY,
  UNIQUE ({{.Keys.List ""}})
{{- else if not .Keys.Rowid}},
  PRIMARY KEY ({{.Keys.List ""}})
{{- end}}
){{.Next}}
{{template "source" .}}
