-- Records that rows of attachment $1 integer failed: keys $2 text[], why
-- $3 text. After $4 integer attempts (0: never) a row is parked; before that it
-- waits, first $5 interval, each time twice as long, at most $6 interval.
insert into alike.error as e (attachment, key, message, attempts, failed_at, retry_at)
select $1, k, $3, 1, clock_timestamp(), case when $4 <> 1 then clock_timestamp() + $5::interval end
from (select distinct unnest($2::text[]) as k) as keys
on conflict (attachment, key) do update
set message = excluded.message,
    attempts = e.attempts + 1,
    failed_at = excluded.failed_at,
    retry_at = case when $4 = 0 or e.attempts + 1 < $4
      then clock_timestamp() + least($5::interval * power(2, least(e.attempts, 20)), $6::interval) end
