-- Every pair of rows that share two features, once, best first: id, other,
-- shared, resemblance. A pair that somebody marked distinct is left out.
with pair as materialized (
  select id, other, count(*) as shared
  from documents_alike_pair
  where id < other
  group by id, other
  having count(*) >= 2
),
p as materialized (
  select pair.*, a.sketch from pair join documents_alike a on a.id = pair.id
)
select p.id, p.other, p.shared, alike.resemblance(p.sketch, b.sketch) as resemblance
from p
join documents_alike b on b.id = p.other
where not exists (
  select 1 from documents_alike_mark m
  where m.id = p.id and m.other = p.other and m.verdict = 'distinct'
)
order by resemblance desc, p.id, p.other;
