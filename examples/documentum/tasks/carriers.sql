-- The documents that carry the aspect, all versions, and what they have it from.
select d.object_name, d.r_version_label as version, d.r_object_type as type,
  case when d.r_object_type in (select name from si_aspect_type) then 'type' else 'object' end as attached_to,
  a.shingles, a.value as "si_aspect.value"
from si_aspect_text t
join dm_document_sp d on d.r_object_id = t.r_object_id
left join si_aspect a on a.r_object_id = t.r_object_id
order by t.r_object_id;
