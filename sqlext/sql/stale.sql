-- The keys that fill.sql would bring up to date.
SELECT {{.KeyList "s"}} FROM {{.In .Source}} s LEFT JOIN {{.In .Side}} a ON {{.Same "a" "s"}}
WHERE {{.Range "s"}} AND (a.profile IS NULL OR a.profile <> {{.ProfileID}})
