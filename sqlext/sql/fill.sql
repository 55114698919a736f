-- Brings a range of rows up to date: what is missing, of another profile, or of another document.
INSERT INTO {{.In .Side}}({{.SideColumns}})
SELECT {{.KeyList "s"}}, {{.ProfileID}}, {{.RowColumns "r"}}
{{- if .Fresh}}
FROM {{.In .Source}} s CROSS JOIN alike__row(s.document, {{text .RowSettings}}) r WHERE {{.Range "s"}}
{{- else}}
FROM (
  SELECT {{.KeyList "s"}}, s.document FROM {{.In .Source}} s LEFT JOIN {{.In .Side}} a ON {{.Same "a" "s"}}
  WHERE {{.Range "s"}} AND (a.profile IS NULL OR a.profile <> {{.ProfileID}}{{if .Verify}} OR a.content_hash IS NOT alike__content_hash(s.document){{end}})
) s CROSS JOIN alike__row(s.document, {{text .RowSettings}}) r WHERE true
ON CONFLICT ({{.KeyList ""}}) DO UPDATE SET {{.SetExcluded}}
{{- end}}
