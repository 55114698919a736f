-- Queues the rows of the table $1 text that failed, with as many attempts as a new
-- row has: queued, how many they are. Until they have been tried they are not due.
with failed as (
  update alike.error
  set attempts = 0, retry_at = clock_timestamp() + interval '1 hour'
  where attachment = (select (alike._attachment($1)).id)
  returning attachment, key
),
queued as (
  insert into alike.queue (attachment, key) select attachment, key from failed returning key
)
select count(*) as queued from queued
