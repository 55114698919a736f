-- Pairs whose verdict contradicts the estimate: id, other, verdict, note, resemblance.
-- They are marked distinct with a resemblance of three quarters or more, or marked
-- duplicate with a lower one.
select m.id, m.other, m.verdict, m.note, alike_resemblance(a.sketch, b.sketch) as resemblance
from documents_alike_mark m
join documents_alike a on a.id = m.id
join documents_alike b on b.id = m.other
where (m.verdict = 'distinct') = (alike_resemblance(a.sketch, b.sketch) >= 0.75)
order by resemblance desc, m.id, m.other;
