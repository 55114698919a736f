-- Brings the aspect to objects that carry it and were there before: five thousand of them;
-- repeat it until none remain. The worker sketches them.
insert into si_aspect_text (r_object_id, text)
select c.r_object_id, o.content
from si_aspect_carrier c join object_content o using (r_object_id)
where not exists (select 1 from si_aspect_text t where t.r_object_id = c.r_object_id)
order by c.r_object_id
limit 5000;
