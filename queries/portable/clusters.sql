-- The clusters of rows that share two features, by label propagation: key, cluster.
-- Every row hands the smallest label that it has seen to its partners. It takes an engine
-- whose recursion removes duplicates (union, not union all); others repeat the step of
-- label_step.sql instead.
with recursive pair (key, other) as (
  select a.key, b.key
  from document_feature a
  join document_feature b on b.slot = a.slot and b.feature = a.feature
  where a.key <> b.key
  group by a.key, b.key
  having count(*) >= 2
),
seen (key, label) as (
  select key, key from pair
  union
  select pair.other, seen.label
  from seen join pair on pair.key = seen.key
  where pair.other > seen.label
)
select key, min(label) as cluster
from seen
group by key
order by min(label), key
