-- Which rows go when of alike rows the one with the latest change stays: id, title, and
-- the row that stands for it, kept. Nothing is deleted here.
select k.key as id, d.title, k.kept, round(k.resemblance, 2) as resemblance
from alike_keep('documents', 'changed_on') k
join documents d on d.id = k.key
where k.key <> k.kept
order by k.kept, k.key;
