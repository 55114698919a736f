-- The pairs whose bounds say that the first may be contained in the second, best first: key,
-- other, containment, low, high. $1 text the table or its attachment, $2 float8 at_least
select h.* from alike._attachment($1) a cross join lateral alike._containments(a, $2::double precision, true, 2147483647) h
