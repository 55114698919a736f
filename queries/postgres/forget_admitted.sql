-- Drops what the gate remembered of checkins that the worker has sketched since:
-- no entry that is as old is in the queue any more.
delete from alike.admitted m
where m.admitted_at < now() - interval '10 seconds'
  and not exists (select from alike.queue q where q.attachment = m.attachment and q.queued_at <= m.admitted_at)
