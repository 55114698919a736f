-- One feature of every row, equal ones together.
SELECT {{.Item}}, {{.Row}} FROM {{.In .Side}} {{.IndexedBy .Item}} WHERE {{.Item}} IS NOT NULL ORDER BY {{.Item}}
