-- Which member of a cluster to keep? cluster, id, title, and its place by age
-- (the newest first), by length and by the rows it is linked to. To keep
-- the newest, keep the rows with by_age = 1. Nothing is deleted here.
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
),
member as (
  select id, min(cluster) as cluster from label group by id
),
linked as (
  select id, count(*) as links from pair group by id
)
select m.cluster, d.id, d.title,
  row_number() over (partition by m.cluster order by d.changed_on desc, d.id) as by_age,
  row_number() over (partition by m.cluster order by length(d.body) desc, d.id) as by_length,
  row_number() over (partition by m.cluster order by l.links desc, d.id) as by_links
from member m
join linked l on l.id = m.id
join documents d on d.id = m.id
order by m.cluster, d.id;
