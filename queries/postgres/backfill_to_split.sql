-- Takes a request to fill a side table that nobody has cut into chunks yet:
-- attachment. Held until the transaction ends.
select b.attachment
from alike.backfill b
join alike.attachment a on a.id = b.attachment
where b.split_at is null and b.finished_at is null
order by a.problem is not null, b.requested_at
limit 1
for update of b skip locked
