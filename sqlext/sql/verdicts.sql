-- What people said about the pairs of one row.
SELECT b.{{.Row}}, m.verdict FROM {{.In .Mark}} m JOIN {{.In .Side}} b ON {{.Keys.SameOther "m" "b"}} WHERE {{.Keys.Is "m" "?"}}
UNION ALL
SELECT b.{{.Row}}, m.verdict FROM {{.In .Mark}} m JOIN {{.In .Side}} b ON {{.Keys.Same "b" "m"}} WHERE {{.Keys.OtherIs "m" "?"}}
