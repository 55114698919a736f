-- The rows alike to row 1, by the papers' rule of two shared features, best
-- first: other, shared, resemblance. The view takes the condition on id into
-- the indexes of the features; the id must stand there as a value. A pair that somebody
-- marked distinct is left out.
select p.other, p.shared, alike.resemblance(a.sketch, b.sketch) as resemblance
from (
  select id, other, count(*) as shared
  from documents_alike_pair
  where id = 1
  group by id, other
  having count(*) >= 2
) p
join documents_alike a on a.id = p.id
join documents_alike b on b.id = p.other
where not exists (
  select 1 from documents_alike_mark m
  where (m.id = p.id and m.other = p.other or m.id = p.other and m.other = p.id) and m.verdict = 'distinct'
)
order by resemblance desc, p.other;
