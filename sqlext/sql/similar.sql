-- Roth's query: the rows whose index lies in the range around that of one.
SELECT {{.Keys.List ""}}, {{.Item}} FROM {{.In .Side}} {{.IndexedBy .Item}} WHERE {{.Item}} BETWEEN ?1 AND ?2 AND {{.Row}} <> ?3
  AND profile = (SELECT profile FROM {{.In .Side}} WHERE {{.Row}} = ?3)
{{define "same_bytes"}}SELECT {{.Row}}, {{.Item}} FROM {{.In .Side}} {{.IndexedBy .Item}} WHERE {{.Item}} BETWEEN ?1 AND ?2 AND {{.Row}} <> ?3
  AND profile = (SELECT profile FROM {{.In .Side}} WHERE {{.Row}} = ?3){{end}}
{{define "index_of_row"}}SELECT {{.Row}}, {{.Item}} FROM {{.In .Side}} WHERE {{.Keys.Is "" "?"}}{{end}}
