-- Takes rows that were checked in while the side table, which is full now, was being
-- filled: attachment, keys.
delete from alike.chunk
where id = (
  select c.id
  from alike.chunk c
  join alike.attachment a on a.id = c.attachment
  join alike.backfill b on b.attachment = c.attachment and b.finished_at is not null
  where c.keys is not null
  order by a.problem is not null, c.id
  limit 1
  for update of c skip locked)
returning attachment, keys
