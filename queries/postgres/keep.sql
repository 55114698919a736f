-- The rows that could go when the latest version of alike rows stays: id, title, and the row
-- that is kept instead, kept. The query deletes nothing.
select d.id, d.title, k.kept, round(k.resemblance::numeric, 2) as resemblance
from alike.keep('documents', 'changed_on') k
join documents d on d.id = k.key::bigint
where k.key <> k.kept
order by k.kept::bigint, d.id;
