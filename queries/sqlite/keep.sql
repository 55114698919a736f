-- The rows that could go when the latest version of alike rows stays: id, title, and the row
-- that is kept instead, kept. The query deletes nothing.
select k.key as id, d.title, k.kept, round(k.resemblance, 2) as resemblance
from alike_keep('documents', 'changed_on') k
join documents d on d.id = k.key
where k.key <> k.kept
order by k.kept, k.key;
