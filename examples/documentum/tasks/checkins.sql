-- The checkins of each day: how many, how many of documents that carry the aspect, how
-- many of these were recorded to resemble another document, and the highest resemblance.
select case date(o.r_creation_date) when date('now') then 'today' else cast(date(o.r_creation_date) as text) end as day, count(*) as checkins,
  count(t.r_object_id) as with_aspect, count(m.resemblance) as alike, coalesce(cast(round(100 * max(m.resemblance)) as integer) || ' %', '') as highest
from dm_sysobject_s o
join dm_document_s using (r_object_id)
left join si_aspect_text t on t.r_object_id = o.r_object_id
left join (
  select case when r_object_id > other then r_object_id else other end as r_object_id, max(resemblance) as resemblance
  from si_aspect_alike_match group by 1
) m on m.r_object_id = o.r_object_id
group by date(o.r_creation_date)
order by date(o.r_creation_date);
