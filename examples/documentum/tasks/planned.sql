-- What the plan moves to /Quarantine, from where, and what stays in its place.
select d.r_object_id, d.object_name, f.r_folder_path as folder, k.r_object_id as kept, k.object_name as kept_name
from quarantine_plan p
join dm_document d on d.r_object_id = p.r_object_id
join dm_document k on k.r_object_id = p.kept_id
join dm_sysobject_r r on r.r_object_id = p.r_object_id and r.i_position = -1
join dm_folder_r f on f.r_object_id = r.i_folder_id
order by p.r_object_id;
