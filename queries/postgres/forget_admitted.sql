-- Deletes the gate's records of checkins that the worker has sketched since: no entry of that
-- age waits any more, and a table without triggers has been scanned since.
delete from alike.admitted m
using alike.attachment a, alike.backfill b
where a.id = m.attachment and b.attachment = m.attachment
  and m.admitted_at < now() - interval '10 seconds'
  and not exists (select from (select attachment, queued_at from alike.queue union all select attachment, queued_at from alike.extraction) q where q.attachment = m.attachment and (q.queued_at <= m.admitted_at or a.mode = 'scan'))
  and (a.mode <> 'scan' or b.finished_at is not null and b.requested_at > m.admitted_at + interval '10 seconds')
