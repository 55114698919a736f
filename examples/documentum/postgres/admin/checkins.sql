-- The checkins of each day: how many, how many of documents that carry the aspect, how
-- many of these were recorded to resemble another document, and the highest resemblance.
select case o.r_creation_date::date when current_date then 'today' else o.r_creation_date::date::text end as day, count(*) as checkins,
  count(t.r_object_id) as with_aspect, count(m.resemblance) as alike, coalesce(to_char(max(m.resemblance), 'FM0.00'), '') as highest
from dm_sysobject_s o
join dm_document_s using (r_object_id)
left join si_aspect_text t on t.r_object_id = o.r_object_id
left join (select greatest(r_object_id, other) as r_object_id, max(resemblance) as resemblance from si_aspect_alike_match group by 1) m
  on m.r_object_id = o.r_object_id
group by o.r_creation_date::date
order by o.r_creation_date::date;
