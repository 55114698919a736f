-- Some pairs of rows whose resemblance is 0.8 or more: id, other, resemblance. It stops at the
-- first ten that it finds, whereas alike.pairs finds all pairs before it returns the best. The
-- view has a pair once for each feature that the two share.
select distinct on (q.id, q.other) q.id, q.other, q.resemblance
from (
  select p.id, p.other, alike.resemblance(a.sketch, b.sketch) as resemblance
  from documents_alike_pair p
  join documents_alike a on a.id = p.id
  join documents_alike b on b.id = p.other
  where p.id < p.other and alike.resemblance(a.sketch, b.sketch) >= 0.8
  limit 100
) q
order by q.id, q.other
limit 10;
