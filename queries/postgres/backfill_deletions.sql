-- Rows of attachment $1 integer went while its side table was being filled.
update alike.backfill set deletions = true where attachment = $1 and finished_at is null and not deletions
