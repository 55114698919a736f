-- Plans a quarantine. A document stays when it resembles none that was filed before it;
-- those that resemble one which stays are to go. What is checked out stays too, and what
-- is in quarantine already counts for nothing.
delete from quarantine_plan;
with pair as (
  select a.i_chronicle_id as first_id, b.i_chronicle_id as second_id, a.r_object_id as first_version, b.r_object_id as second_version
  from alike_pairs('si_aspect') p
  join dm_document a on a.r_object_id in (p.key, p.other)
  join dm_document b on b.r_object_id in (p.key, p.other) and b.i_chronicle_id > a.i_chronicle_id
  where a.i_chronicle_id not in (select o.i_chronicle_id from quarantined q join dm_sysobject_s o using (r_object_id))
    and b.i_chronicle_id not in (select o.i_chronicle_id from quarantined q join dm_sysobject_s o using (r_object_id))
)
insert into quarantine_plan (r_object_id, kept_id)
select p.second_version, min(p.first_version)
from pair p
where not exists (select 1 from pair q where q.second_id = p.first_id)
  and not exists (select 1 from dm_sysobject_s o where o.r_object_id = p.second_version and o.r_lock_owner <> '')
group by p.second_version;
