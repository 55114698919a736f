-- Features that three documents and more have, versions of one counted once: templates
-- and footers come to light so.
select f.slot, count(distinct o.i_chronicle_id) as documents, min(o.r_object_id) as one_of_them
from si_aspect_alike_feature f join dm_sysobject_s o on o.r_object_id = f.r_object_id
group by f.slot, f.feature
having count(distinct o.i_chronicle_id) >= 3
order by documents desc, f.slot;
