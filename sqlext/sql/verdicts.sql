-- What people said about the pairs of one row.
SELECT b.{{.Row}}, m.verdict FROM {{.In .Mark}} m JOIN {{.In .Side}} b ON {{.SameOther "m" "b"}} WHERE {{.KeyIs "m" "?"}}
UNION ALL
SELECT b.{{.Row}}, m.verdict FROM {{.In .Mark}} m JOIN {{.In .Side}} b ON {{.Same "b" "m"}} WHERE {{.OtherIs "m" "?"}}
