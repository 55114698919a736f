-- The keys that fill.sql would bring up to date.
SELECT {{.Keys.List "s"}} FROM {{.In .Source}} s LEFT JOIN {{.In .Side}} a ON {{.Keys.Same "a" "s"}}
WHERE {{.Range "s"}} AND {{template "outdated" .}}
