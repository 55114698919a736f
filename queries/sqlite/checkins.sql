-- The checkins by day: day, sketched, matched (rows that resembled another one),
-- matches, nearest (the highest resemblance).
select s.day, s.sketched, coalesce(m.matched, 0) as matched, coalesce(m.matches, 0) as matches, m.nearest
from (
  select date(sketched_at, 'unixepoch') as day, count(*) as sketched
  from documents_alike group by 1
) s
left join (
  -- By day first: joined as they are, every match would be looked at for every day.
  select date(matched_at, 'unixepoch') as day, count(distinct id) as matched, count(*) as matches, max(resemblance) as nearest
  from documents_alike_match group by 1
) m on m.day = s.day
order by s.day;
