-- The rows nearest to row 1 by its forest columns: id, depth. A column holds a byte of each of
-- eight minima, the first one highest, and two rows of resemblance r agree in its first d
-- bytes with a probability of about r to the power of d: the deeper, the nearer. Here
-- two bytes must agree, hence the range of 2^48 values around row 1; more columns find more.
select id, max(case when difference = 0 then 8 when difference < 256 then 7 when difference < 65536 then 6
  when difference < 16777216 then 5 when difference < 4294967296 then 4 when difference < 1099511627776 then 3 else 2 end) as depth
from (
  select d.id, asked.si_forest_0 # d.si_forest_0 as difference
  from documents_alike asked
  join documents_alike d on d.si_forest_0 between asked.si_forest_0 & ~281474976710655 and asked.si_forest_0 | 281474976710655
  where asked.id = 1 and d.id <> 1
  union all
  select d.id, asked.si_forest_1 # d.si_forest_1 as difference
  from documents_alike asked
  join documents_alike d on d.si_forest_1 between asked.si_forest_1 & ~281474976710655 and asked.si_forest_1 | 281474976710655
  where asked.id = 1 and d.id <> 1
) hit
group by id
order by depth desc, id
limit 10;
