-- Brings the aspect to objects that carry it and were there before: five thousand of them;
-- repeat it until none remain. They are not refused: reject is link for as long.
begin immediate;
create temp table policy_was as select policy from alike_attachment where name = 'si_aspect' and policy = 'reject';
select alike_attach('si_aspect_text', 'text', '{"name": "si_aspect", "policy": "link"}') as sketched from policy_was;
insert into si_aspect_text (r_object_id, text)
select c.r_object_id, o.content
from si_aspect_carrier c join object_content o using (r_object_id)
where not exists (select 1 from si_aspect_text t where t.r_object_id = c.r_object_id)
order by c.r_object_id
limit 5000;
select alike_attach('si_aspect_text', 'text', '{"name": "si_aspect", "policy": "reject"}') as sketched from policy_was;
drop table policy_was;
commit;
