SELECT {{.Item}}, count(*), min({{.Row}}) FROM {{.In .Side}} {{.IndexedBy .Item}} WHERE {{.Item}} IS NOT NULL GROUP BY {{.Item}} HAVING count(*) >= ?1
