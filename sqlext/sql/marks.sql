-- What people said about all pairs. Of two verdicts on a pair, which only a hand can write, distinct comes last and counts.
SELECT a.{{.Row}}, b.{{.Row}}, m.verdict = 'duplicate' FROM {{.In .Mark}} m JOIN {{.In .Side}} a ON {{.Keys.Same "a" "m"}} JOIN {{.In .Side}} b ON {{.Keys.SameOther "m" "b"}}
WHERE a.{{.Row}} <> b.{{.Row}} ORDER BY m.verdict DESC
