-- The limit of a question on containment, checked. $1 text the table or its attachment,
-- $2 float8 at_least, NaN for 0.8
select alike._containment_limit(a, $2::double precision) from alike._attachment($1) a
