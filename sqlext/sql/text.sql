-- The document of a row of the side table, as alike__row was given it, and the hash of the document that was sketched.
SELECT CASE WHEN typeof(s.document) IN ('integer', 'real') THEN CAST(s.document AS TEXT) ELSE s.document END, a.content_hash
FROM {{.In .Side}} a JOIN {{.In .Source}} s ON {{.Keys.Same "s" "a"}} WHERE a.{{.Row}} = ?1
