-- Asks for another look at the tables that take no triggers, $1 interval after
-- the last one was done.
update alike.backfill b
set requested_at = clock_timestamp(), split_at = null, finished_at = null, deletions = true
from alike.attachment a
where a.id = b.attachment and a.mode = 'scan' and b.finished_at < clock_timestamp() - $1::interval
