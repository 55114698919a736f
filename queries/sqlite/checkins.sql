-- The checkins by day: day, sketched, matched (rows that resembled another one),
-- matches, nearest (the highest resemblance).
select s.day, s.sketched, count(distinct m.id) as matched, count(m.id) as matches, max(m.resemblance) as nearest
from (
  select date(sketched_at, 'unixepoch') as day, count(*) as sketched
  from documents_alike group by 1
) s
left join documents_alike_match m on date(m.matched_at, 'unixepoch') = s.day
group by s.day, s.sketched
order by s.day;
