-- The rows nearest to row 1 by its forest columns: id, depth. Two rows that agree
-- in the first d bytes of a column lie in one range of it, and resemblance r makes
-- that happen with a probability of about r to the power of d: the deeper, the nearer.
with range (depth, bits, width) as (
  values (8, 0, 0), (7, 8, 255), (6, 16, 65535), (5, 24, 16777215), (4, 32, 4294967295),
    (3, 40, 1099511627775), (2, 48, 281474976710655), (1, 56, 72057594037927935)
),
asked as materialized (
  select si_forest_0, si_forest_1 from documents_alike where id = 1
)
select id, max(depth) as depth
from (
  select d.id, range.depth
  from asked cross join range
  join documents_alike d on d.si_forest_0 between (asked.si_forest_0 >> bits) << bits and ((asked.si_forest_0 >> bits) << bits) + width
  union all
  select d.id, range.depth
  from asked cross join range
  join documents_alike d on d.si_forest_1 between (asked.si_forest_1 >> bits) << bits and ((asked.si_forest_1 >> bits) << bits) + width
) hit
where id <> 1
group by id
order by depth desc, id
limit 10;
