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
{{- if .Uniques}}
CREATE TABLE IF NOT EXISTS {{.In .Replaced}}(
{{- range $i, $k := .Keys}}
  {{- if $i}}, {{end}}{{$k.Column}}
{{- end}}
){{.Next}}
{{- end}}
