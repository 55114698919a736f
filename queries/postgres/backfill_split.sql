-- The chunks of attachment $1 integer are there: its rows are what they hold.
update alike.backfill b
set split_at = clock_timestamp(), rows = (select coalesce(sum(c.rows), 0) from alike.chunk c where c.attachment = $1)
where b.attachment = $1
