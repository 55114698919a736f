-- The checkins of each day: how many, how many of documents that carry the aspect, how
-- many of these were recorded to resemble another document, and the highest resemblance.
select iif(date(o.r_creation_date) = date('now'), 'today', date(o.r_creation_date)) as day, count(*) as checkins,
  count(t.r_object_id) as with_aspect, count(m.resemblance) as alike, iif(max(m.resemblance) is null, '', printf('%.2f', max(m.resemblance))) as highest
from dm_sysobject_s o
join dm_document_s using (r_object_id)
left join si_aspect_text t on t.r_object_id = o.r_object_id
left join (select max(r_object_id, other) as r_object_id, max(resemblance) as resemblance from si_aspect_alike_match group by 1) m
  on m.r_object_id = o.r_object_id
group by date(o.r_creation_date)
order by date(o.r_creation_date);
