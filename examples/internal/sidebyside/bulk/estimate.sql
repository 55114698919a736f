-- Every pair of rows that share a feature and resemble each other by at least 0.75,
-- once: key, other, shared, resemblance. What alike.pairs computes, from the tables
-- document_feature (key, slot, feature) and document_sketch (key, sketch) and for
-- sketches of 84 slots of 8 bits: after a header of 22 bytes, a byte a slot. Unequal
-- slots agree by luck once in 256 times, which is taken off.
with slot (n) as (
  select tens.n * 7 + ones.n
  from (values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11)) tens (n)
  cross join (values (0), (1), (2), (3), (4), (5), (6)) ones (n)
),
candidate as (
  select a.key as key, b.key as other, count(*) as shared
  from document_feature a
  join document_feature b on b.slot = a.slot and b.feature = a.feature
  where a.key < b.key
  group by a.key, b.key
),
compared as (
  select c.key, c.other, c.shared, count(*) as matches
  from candidate c
  join (select key, hex(sketch) as digits from document_sketch) a on a.key = c.key
  join (select key, hex(sketch) as digits from document_sketch) b on b.key = c.other
  cross join slot
  where substr(a.digits, 45 + 2 * slot.n, 2) = substr(b.digits, 45 + 2 * slot.n, 2)
  group by c.key, c.other, c.shared
),
estimated as (
  select key, other, shared, (matches / 84e0 - 1 / 256e0) / (1 - 1 / 256e0) as resemblance
  from compared
)
select key, other, shared, resemblance
from estimated
where resemblance >= 0.75
order by resemblance desc, key, other
