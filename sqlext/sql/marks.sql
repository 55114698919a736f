-- What people said about all pairs.
SELECT a.{{.Row}}, b.{{.Row}}, m.verdict = 'duplicate' FROM {{.In .Mark}} m JOIN {{.In .Side}} a ON {{.Keys.Same "a" "m"}} JOIN {{.In .Side}} b ON {{.Keys.SameOther "m" "b"}}
