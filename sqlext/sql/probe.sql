-- The rows that share a feature with the features given, and how many.
SELECT this, count(*) FROM (
{{- range $i, $f := .Features}}
{{if $i}}UNION ALL {{end}}SELECT {{$.Row}} AS this FROM {{$.In $.Side}} {{$.IndexedBy $f}} WHERE {{$f}} = ?{{$.Slot $i}}
{{- end}}) GROUP BY this
