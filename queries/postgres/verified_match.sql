-- What rows $1 text[] may resemble when their documents are read: key, other, shared,
-- resemblance, low, high, whether a person called the pair a duplicate, and how many
-- such rows the first has.
-- $2 float8 from this estimate on, $3 integer of each no more than these, the nearest
select g.key, r.key, r.shared, r.resemblance, r.low, r.high,
  exists (
    select from {mark} m
    where m.verdict = 'duplicate' and (({keys_m}) in (select {values} from (select g.key) k) and {text_others_m} = r.key
      or ({others_m}) in (select {values} from (select g.key) k) and {text_m} = r.key)),
  r.total
from unnest($1::text[]) with ordinality as g(key, n)
cross join lateral {similar}(null::bigint[], null::bytea, g.key, $2::double precision, $3::integer) r
order by g.n, r.resemblance desc
