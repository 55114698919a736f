-- The chunks of attachment $1 integer are there.
update alike.backfill set split_at = clock_timestamp() where attachment = $1
