-- Every document, as alike__row was given it, and its key.
SELECT CASE WHEN typeof(s.document) IN ('integer', 'real') THEN CAST(s.document AS TEXT) ELSE s.document END, {{.Keys.List "s"}}
FROM {{.In .Source}} s WHERE s.document IS NOT NULL
