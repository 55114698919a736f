-- Every pair of rows that share two features, once, best first: id, other,
-- shared, resemblance. A pair that somebody marked distinct is left out.
select p.id, p.other, p.shared, alike.resemblance(a.sketch, b.sketch) as resemblance
from (
  select id, other, count(*) as shared
  from documents_alike_pair
  where id < other
  group by id, other
  having count(*) >= 2
) p
join documents_alike a on a.id = p.id
join documents_alike b on b.id = p.other
where not exists (
  select 1 from documents_alike_mark m
  where m.id = p.id and m.other = p.other and m.verdict = 'distinct'
)
order by resemblance desc, p.id, p.other;
