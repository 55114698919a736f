-- The features as plain SQL sees them, and what the policies and people say.
CREATE VIEW {{.In (.Object "pair")}} AS
{{- range $i, $f := .Features}}
{{if $i}}UNION ALL {{end}}SELECT {{$.Keys.List "a"}}, {{$.Keys.OthersAs "b"}}, {{$.Slot $i}} AS slot
FROM {{$.Side}} a JOIN {{$.Side}} b ON b.{{$f}} = a.{{$f}} AND b.{{$.Row}} <> a.{{$.Row}}
{{- end}}{{.Next}}
CREATE VIEW {{.In (.Object "feature")}} AS
{{- range $i, $f := .Features}}
{{if $i}}UNION ALL {{end}}SELECT {{$.Keys.List ""}}, {{$.Slot $i}} AS slot, {{$f}} AS feature FROM {{$.Side}} WHERE {{$f}} IS NOT NULL
{{- end}}{{.Next}}
