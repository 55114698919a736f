-- The rows that resemble a document that is not in the table, best first: key,
-- shared, resemblance, low, high, containment.
-- $1 text      the table or its attachment
-- $2 bigint[]  the document's features, NULL for a feature that it lacks
-- $3 bytea     its sketch
-- $4 float8    at_least, NULL for the attachment's own
-- $5 bigint    the number of its shingles
select r.*
from alike._attachment($1) a
cross join lateral alike._similar(alike._asked(a, $4::double precision), $2::bigint[], $3::bytea, null, alike._limit(a, $4::double precision), $5::bigint) r
