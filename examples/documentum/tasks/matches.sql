-- What was recorded at checkins: the one of a pair that came later, and what it resembled.
select a.object_name as checkin, av.r_version_label as version, b.object_name as resembles, bv.r_version_label as "version ",
  cast(round(100 * m.resemblance) as integer) || ' %' as resemblance, m.policy
from (
  select distinct case when r_object_id > other then r_object_id else other end as later,
    case when r_object_id > other then other else r_object_id end as earlier, resemblance, policy
  from si_aspect_alike_match
) m
join dm_sysobject_s a on a.r_object_id = m.later
join dm_sysobject_s b on b.r_object_id = m.earlier
join dm_sysobject_r av on av.r_object_id = a.r_object_id and av.i_position = -1
join dm_sysobject_r bv on bv.r_object_id = b.r_object_id and bv.i_position = -1
order by a.r_object_id, b.r_object_id;
