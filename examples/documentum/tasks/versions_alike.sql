-- How much each version of a document resembles its antecedent.
select o.object_name, av.r_version_label as made_of, v.r_version_label as version,
  cast(round(100 * alike_resemblance(a.sketch, b.sketch)) as integer) || ' %' as resemblance
from dm_sysobject_s o
join dm_sysobject_r v on v.r_object_id = o.r_object_id and v.i_position = -1
join dm_sysobject_r av on av.r_object_id = o.i_antecedent_id and av.i_position = -1
join si_aspect_alike b on b.r_object_id = o.r_object_id
join si_aspect_alike a on a.r_object_id = o.i_antecedent_id
order by o.i_chronicle_id, o.r_object_id;
