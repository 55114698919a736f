-- The side table of an attachment, and the documents it is about.
CREATE TABLE {{.In .Side}}(
{{- range .Keys}}
  {{.Definition}},
{{- end}}
  profile INTEGER NOT NULL,
  content_hash INTEGER,
  shingles INTEGER,
  sketch BLOB,
{{- range .Features}}
  {{.}} INTEGER,
{{- end}}
{{- range .Indexes}}
  {{.}} INTEGER,
{{- end}}
  sketched_at INTEGER NOT NULL
{{- if not .KeyIsRowid}},
  PRIMARY KEY ({{.KeyList ""}})
{{- end}}
);
CREATE VIEW {{.In .Source}}({{.KeyList ""}}, document) AS
SELECT {{.TableKeys ""}}, {{quote .Column}} FROM {{quote .Table}}
WHERE {{.KeysKnown}}{{if .Where}} AND (
{{.Where}}
){{end}};
