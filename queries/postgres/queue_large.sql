-- Queues the rows of the table that transactions $1 text[] wrote, or all where it is NULL,
-- and the side rows of keys that are not in the table any more, fifty keys an entry.
insert into alike.queue (attachment, key, more)
select {id}, q.keys[1], q.keys[2:]
from (
  select array_agg(c.key) as keys
  from (
    select x.key, (row_number() over () - 1) / 50 as entry
    from (
      select {text_d} as key from ({rows}) d where $1::text[] is null or d.alike_version = any ($1)
      union all
      select {text_s} from {side} s where not exists (select from ({rows}) d where {same})
    ) x
  ) c
  group by c.entry
) q
