-- Why attachments cannot be worked on: their number, a sentence, and whether work waits
-- for them.
select a.id, format('%s cannot be worked on: %s', a.name, a.problem),
  exists (select from alike.queue q where q.attachment = a.id)
  or exists (select from alike.extraction e where e.attachment = a.id)
  or exists (select from alike.error e where e.attachment = a.id and e.retry_at is not null)
  or exists (select from alike.chunk c where c.attachment = a.id)
  or exists (select from alike.backfill b where b.attachment = a.id and b.finished_at is null)
from alike.attachment a
where a.problem is not null and alike._owns(a)
order by a.name, a.id
