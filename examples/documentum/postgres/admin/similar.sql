-- The documents that resemble one, by their sketches.
select d.r_object_id, d.object_name, d.r_version_label as version, to_char(r.resemblance, 'FM0.00') as resemblance
from alike.rows('si_aspect', :'id') r join dm_document_sp d on d.r_object_id = r.key::char(16)
order by r.resemblance desc, d.r_object_id;
