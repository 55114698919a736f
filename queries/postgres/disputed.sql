-- Pairs about which people and numbers do not agree: id, other, verdict, note,
-- resemblance. Marked distinct although they resemble each other three quarters
-- and more, or duplicates although they do not.
with m as materialized (
  select m.*, a.sketch from documents_alike_mark m join documents_alike a on a.id = m.id
)
select m.id, m.other, m.verdict, m.note, alike.resemblance(m.sketch, b.sketch) as resemblance
from m
join documents_alike b on b.id = m.other
where (m.verdict = 'distinct') = (alike.resemblance(m.sketch, b.sketch) >= 0.75)
order by resemblance desc, m.id, m.other;
