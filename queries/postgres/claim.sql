-- Takes entries from the queue that no other worker has taken, the oldest first, until
-- they hold $1 bigint keys or there is no other: attachment, key, queued_at. They are gone
-- when the transaction commits and back when it does not. claim_large takes the others.
with waiting as materialized (
  select ctid, id, 1 + coalesce(cardinality(more), 0) as keys
  from alike.queue where file is null or attachment not in (select a.id from alike.attachment a) order by id limit $1 for update skip locked
),
taken as (
  delete from alike.queue
  where ctid = any (array(
    select w.ctid from (select ctid, sum(keys) over (order by id) - keys as before from waiting) w where w.before < $1
  ))
  returning attachment, key, more, queued_at
)
select attachment, key, queued_at from taken
union all
select attachment, unnest(more), queued_at from taken
