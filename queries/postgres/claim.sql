-- Takes up to $1 integer entries from the queue, the oldest first, that no
-- other worker has taken: attachment, key, queued_at. They are gone when the
-- transaction commits and back when it does not.
delete from alike.queue
where ctid = any (array(
  select ctid from alike.queue order by id limit $1 for update skip locked
))
returning attachment, key, queued_at
