-- How many objects carry the aspect and wait for the backfill.
select count(*) as remaining
from si_aspect_carrier c join object_content using (r_object_id)
where not exists (select 1 from si_aspect_text t where t.r_object_id = c.r_object_id);
