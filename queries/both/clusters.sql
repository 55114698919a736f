-- The clusters of rows that share two features, by label propagation: id,
-- cluster, size. Every row starts with its id as its label and hands labels to
-- the rows that it is a pair with, if theirs are greater; the least that arrives
-- is the cluster. Each step is one more round of the recursion.
with recursive pair as (
  select id, other
  from documents_alike_pair p
  where not exists (
    select 1 from documents_alike_mark m
    where (m.id = p.id and m.other = p.other or m.id = p.other and m.other = p.id) and m.verdict = 'distinct'
  )
  group by id, other
  having count(*) >= 2
),
label (id, cluster) as (
  select id, id from pair
  union
  select pair.other, label.cluster
  from label join pair on pair.id = label.id
  where pair.other > label.cluster
)
select id, min(cluster) as cluster, count(*) over (partition by min(cluster)) as size
from label
group by id
order by cluster, id;
