-- The rows alike to row 1, by the papers' rule of two shared features, best
-- first: other, shared, resemblance. The view takes the condition on id into
-- the indexes of the features; the id must stand there as a value. A pair that somebody
-- marked distinct is left out.
with asked as materialized (
  select sketch from documents_alike where id = 1
),
p as materialized (
  select id, other, count(*) as shared
  from documents_alike_pair
  where id = 1
  group by id, other
  having count(*) >= 2
)
select p.other, p.shared, alike.resemblance(asked.sketch, b.sketch) as resemblance
from asked
cross join p
join documents_alike b on b.id = p.other
where not exists (
  select 1 from documents_alike_mark m
  where (m.id = 1 and m.other = p.other or m.id = p.other and m.other = 1) and m.verdict = 'distinct'
)
order by resemblance desc, p.other;
