-- What people said about the pairs of one row, the other of which has a sketch. Of two verdicts on a pair distinct comes last and counts.
SELECT b.{{.Row}}, m.verdict FROM {{.In .Mark}} m JOIN {{.In .Side}} b ON {{.Keys.SameOther "m" "b"}} WHERE b.sketch IS NOT NULL AND {{.Keys.Is "m" "?"}} AND NOT ({{.Keys.SameOther "m" "m"}})
UNION ALL
SELECT b.{{.Row}}, m.verdict FROM {{.In .Mark}} m JOIN {{.In .Side}} b ON {{.Keys.Same "b" "m"}} WHERE b.sketch IS NOT NULL AND {{.Keys.OtherIs "m" "?"}} AND NOT ({{.Keys.SameOther "m" "m"}})
ORDER BY 2 DESC
