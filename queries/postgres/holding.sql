-- The rows whose bounds say that they may contain a row, or be contained in it: key,
-- containment, low, high. $1 text the table or its attachment, $2 text the key, $3 boolean
-- whether they are those contained in it, $4 float8 at_least
select h.* from alike._attachment($1) a cross join lateral alike._holding_row(a, $2, $3::boolean, $4::double precision, true, 2147483647) h
