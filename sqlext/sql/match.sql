CREATE TABLE IF NOT EXISTS {{.In .Match}}(
{{- range .Keys}}
  {{.Column}},
{{- end}}
{{- range .Keys}}
  {{.OtherColumn}},
{{- end}}
  shared INTEGER NOT NULL,
  resemblance REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  omitted INTEGER NOT NULL, -- rows that resemble the first as well and were not recorded
  relation TEXT NOT NULL, -- of the first to the other: resembles, contains or contained, to which resemblance, low and high belong
  policy TEXT NOT NULL,
  matched_at INTEGER NOT NULL,
  PRIMARY KEY ({{.Keys.List ""}}, {{.Keys.Others ""}}),
  UNIQUE ({{.Keys.Others ""}}, {{.Keys.List ""}})
){{.Next}}
CREATE TABLE IF NOT EXISTS {{.In .Mark}}(
{{- range .Keys}}
  {{.Column}},
{{- end}}
{{- range .Keys}}
  {{.OtherColumn}},
{{- end}}
  verdict TEXT NOT NULL CHECK (verdict IN ('duplicate', 'distinct')),
  note TEXT,
  marked_at INTEGER NOT NULL,
  marked_by TEXT,
  PRIMARY KEY ({{.Keys.List ""}}, {{.Keys.Others ""}}),
  UNIQUE ({{.Keys.Others ""}}, {{.Keys.List ""}})
){{.Next}}
{{- if eq .Mode "queue"}}
CREATE TABLE IF NOT EXISTS {{.In .Queue}}(
{{- range .Keys}}
  {{.Column}},
{{- end}}
  queued_at INTEGER NOT NULL,
  PRIMARY KEY ({{.Keys.List ""}})
){{.Next}}
{{- end}}
{{- /* What is unique in each row of the table, beside its key. */ -}}
{{define "unique"}}CREATE TABLE {{.In .Unique}}(
{{- range .Keys}}
  {{.Column}},
{{- end}}
  {{.UniqueList}},
  PRIMARY KEY ({{.Keys.List ""}}){{range .UniqueIndexes}},
  UNIQUE ({{.}}, {{$.Keys.List ""}}){{end}}
){{end}}
{{define "fill_unique"}}INSERT INTO {{.In .Unique}} SELECT {{.Keys.InTable "t"}}, {{.UniqueColumns "t"}} FROM {{.In (quote .Table)}} t WHERE {{.Keys.Known}}{{end}}
