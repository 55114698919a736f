-- Puts back what is in quarantine, each document with all of its versions into the folder
-- that it was in.
begin;
update dm_sysobject_r set i_folder_id = (
  select q.i_folder_id
  from quarantined q join dm_sysobject_s o using (r_object_id) join dm_sysobject_s v on v.i_chronicle_id = o.i_chronicle_id
  where v.r_object_id = dm_sysobject_r.r_object_id)
where i_position = -1 and i_folder_id = (select r_object_id from dm_folder_r where r_folder_path = '/Quarantine')
  and r_object_id in (
    select v.r_object_id
    from quarantined q join dm_sysobject_s o using (r_object_id) join dm_sysobject_s v on v.i_chronicle_id = o.i_chronicle_id);
delete from quarantined;
commit;
