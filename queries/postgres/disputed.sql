-- Pairs whose verdict contradicts the estimate: id, other, verdict, note, resemblance.
-- They are marked distinct with a resemblance of three quarters or more, or marked
-- duplicate with a lower one.
with m as materialized (
  select m.*, a.sketch from documents_alike_mark m join documents_alike a on a.id = m.id
)
select m.id, m.other, m.verdict, m.note, alike.resemblance(m.sketch, b.sketch) as resemblance
from m
join documents_alike b on b.id = m.other
where (m.verdict = 'distinct') = (alike.resemblance(m.sketch, b.sketch) >= 0.75)
order by resemblance desc, m.id, m.other;
