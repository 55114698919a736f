-- The documents that resemble one, by their sketches.
select d.r_object_id, d.object_name, d.r_version_label as version, cast(round(100 * r.resemblance) as integer) || ' %' as resemblance
from alike_rows('si_aspect', :id) r join dm_document_sp d on d.r_object_id = r.key
order by r.resemblance desc, d.r_object_id;
