-- Does what was planned: moves the documents to /Quarantine, unless one of them has been
-- checked out or versioned since. Nothing is deleted; release.sql takes it back.
begin;
insert into quarantined (r_object_id, kept_id, i_folder_id, quarantined_at)
select p.r_object_id, p.kept_id, r.i_folder_id, current_timestamp
from quarantine_plan p
join dm_document d on d.r_object_id = p.r_object_id and d.r_lock_owner = ''
join dm_sysobject_r r on r.r_object_id = p.r_object_id and r.i_position = -1
where p.r_object_id not in (select r_object_id from quarantined);
update dm_sysobject_r set i_folder_id = (select r_object_id from dm_folder_r where r_folder_path = '/Quarantine')
where i_position = -1 and r_object_id in (select r_object_id from quarantine_plan) and r_object_id in (select r_object_id from quarantined);
delete from quarantine_plan;
commit;
