-- For metrics, one row an attachment: name, entries in the queue, the age of
-- the oldest in seconds, rows that failed and wait for another attempt, rows
-- that were given up, rows that remain to be filled.
select
  a.name,
  (select count(*) from alike.queue q where q.attachment = a.id) as pending,
  coalesce((select extract(epoch from clock_timestamp() - min(q.queued_at)) from alike.queue q where q.attachment = a.id), 0)::double precision as oldest,
  (select count(*) from alike.error e where e.attachment = a.id and e.retry_at is not null) as failing,
  (select count(*) from alike.error e where e.attachment = a.id and e.retry_at is null) as parked,
  coalesce((select sum(c.rows) from alike.chunk c where c.attachment = a.id), 0)::bigint as unfilled
from alike.attachment a
