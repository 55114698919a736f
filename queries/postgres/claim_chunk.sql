-- Takes a chunk that no other worker has taken: attachment, above, upto. Those
-- of an attachment that cannot be worked on come last.
delete from alike.chunk
where id = (
  select c.id
  from alike.chunk c
  join alike.attachment a on a.id = c.attachment
  where c.keys is null
  order by a.problem is not null, c.id
  limit 1
  for update of c skip locked)
returning attachment, above, upto
