{{- /* The features as plain SQL sees them, without the extension. */ -}}
CREATE VIEW {{.In (.Object "pair")}}({{.Keys.List ""}}, {{.Keys.Others ""}}, slot) AS
{{.Union "pairs_of_feature"}}{{.Next}}
CREATE VIEW {{.In (.Object "feature")}}({{.Keys.List ""}}, slot, feature) AS
{{.Union "rows_of_feature"}}{{.Next}}
{{define "pairs_of_feature"}}SELECT {{.Keys.List "a"}}, {{.Keys.OthersAs "b"}}, {{.Number}} AS slot FROM {{.Side}} a JOIN {{.Side}} b ON b.{{.Item}} = a.{{.Item}} AND b.{{.Row}} <> a.{{.Row}}{{end}}
{{define "rows_of_feature"}}SELECT {{.Keys.List ""}}, {{.Number}} AS slot, {{.Item}} AS feature FROM {{.Side}} WHERE {{.Item}} IS NOT NULL{{end}}
