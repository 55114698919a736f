-- Records pairs of rows that resemble each other: the number of pairs. $1 integer the
-- attachment, $2 text[] keys, $3 text[] the others, $4 integer[] features that they
-- share, $5, $6 and $7 float8[] resemblance, low and high, $8 integer[] rows of the first that are
-- not recorded, $9 text[] what each is to the other, resembles where it is NULL
select alike._record(a, $2::text[], $3::text[], $4::integer[], $5::double precision[], $6::double precision[], $7::double precision[], $8::integer[], $9::text[])
from alike.attachment a where a.id = $1
