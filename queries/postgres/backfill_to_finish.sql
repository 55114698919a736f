-- Takes a side table whose last chunk is written: attachment, and whether rows
-- were deleted meanwhile. A chunk that is being written is still there for us.
select b.attachment, b.deletions
from alike.backfill b
where b.split_at is not null and b.finished_at is null
  and not exists (select from alike.chunk c where c.attachment = b.attachment and c.keys is null)
order by b.requested_at
limit 1
for update skip locked
