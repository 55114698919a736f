-- Puts up to 1000 failed rows whose time has come back into the queue. Until
-- they have been tried they are not due; $1 interval is the longest wait there
-- is, so that a clock set back holds nothing up. Returns nothing.
with due as (
  update alike.error
  set retry_at = clock_timestamp() + $1::interval
  where (attachment, key) in (
    select attachment, key from alike.error
    where retry_at <= clock_timestamp() or retry_at > clock_timestamp() + 2 * $1::interval
    limit 1000
    for update skip locked)
  returning attachment, key
)
insert into alike.queue (attachment, key) select attachment, key from due
