-- What is in quarantine.
select q.r_object_id, d.object_name, d.r_version_label as version, w.r_folder_path as was_in, q.kept_id as kept
from quarantined q
join dm_document_sp d on d.r_object_id = q.r_object_id
join dm_folder_r w on w.r_object_id = q.i_folder_id
order by q.r_object_id;
