-- The versions of a document: the tree by its numbers, with their labels.
select o.r_object_id, n.r_version_label as version, coalesce(l.r_version_label, '') as label, o.i_antecedent_id,
  o.i_latest_flag as latest, o.i_has_folder as current, o.r_immutable_flag as immutable, o.r_lock_owner
from dm_sysobject_s o
join dm_sysobject_r n on n.r_object_id = o.r_object_id and n.i_position = -1
left join dm_sysobject_r l on l.r_object_id = o.r_object_id and l.i_position < -1 and l.r_version_label is not null
where o.i_chronicle_id = :id
order by o.r_object_id, l.i_position desc;
