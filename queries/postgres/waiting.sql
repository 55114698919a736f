-- Is there anything for a worker to do? Asked many times a second, so that no
-- application has to announce what it has checked in: it looks at no more than one
-- entry of each kind. $1 interval is how often a table without triggers is scanned.
select exists (select from alike.queue)
  or exists (select from alike.request where answered_at is null and not taken)
  or exists (select from alike.question where answered_at is null)
  or exists (select from alike.extraction where taken_until is null)
  or exists (select from alike.chunk)
  or exists (select from alike.backfill b where b.finished_at is null)
  or exists (select from alike.backfill b join alike.attachment a on a.id = b.attachment
             where a.mode = 'scan' and b.finished_at <= clock_timestamp() - $1::interval)
