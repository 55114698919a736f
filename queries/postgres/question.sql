-- The attachment of a question, its limit and how open pairs are decided. $1 text the table or
-- its attachment, $2 float8 at_least, NaN for the attachment's own
select a.id, alike._limit(a, $2::double precision), coalesce(a.options ->> 'verify', 'sketch') from alike._attachment($1) a
