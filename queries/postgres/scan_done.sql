-- What changed in the table of attachment $1 integer before this transaction is
-- in the queue.
update alike.backfill set requested_at = now(), finished_at = clock_timestamp() where attachment = $1
