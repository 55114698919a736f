-- Which rows go when of alike rows the one with the latest change stays: id, title, and
-- the row that stands for it, kept. Nothing is deleted here.
select d.id, d.title, k.kept, round(k.resemblance::numeric, 2) as resemblance
from alike.keep('documents', 'changed_on') k
join documents d on d.id = k.key::bigint
where k.key <> k.kept
order by k.kept::bigint, d.id;
