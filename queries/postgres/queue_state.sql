-- For metrics, one row an attachment: name, entries in the queue, the age of
-- the oldest in seconds, rows that failed and wait for another attempt, rows
-- that were given up, rows that remain to be filled.
select
  a.name,
  q.pending,
  coalesce(extract(epoch from clock_timestamp() - q.oldest), 0)::double precision as oldest,
  (select count(*) from alike.error e where e.attachment = a.id and e.retry_at is not null) as failing,
  (select count(*) from alike.error e where e.attachment = a.id and e.retry_at is null) as parked,
  coalesce((select sum(c.rows) from alike.chunk c where c.attachment = a.id), 0)::bigint as unfilled
from alike.attachment a
cross join lateral (
  select coalesce(sum(e.keys), 0)::bigint as pending, min(e.queued_at) as oldest
  from (select attachment, queued_at, 1 + coalesce(cardinality(more), 0) as keys from alike.queue
        union all select attachment, queued_at, 1 from alike.extraction) e
  where e.attachment = a.id
) q
