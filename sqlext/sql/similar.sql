-- Roth's query: the rows whose index lies in the open range around that of one.
SELECT {{.KeyList ""}}, {{.Item}} FROM {{.In .Side}} {{.IndexedBy .Item}} WHERE {{.Item}} > ?1 AND {{.Item}} < ?2 AND {{.Row}} <> ?3
