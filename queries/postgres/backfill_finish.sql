-- The side table of attachment $1 integer is full and has its indexes.
with done as (
  update alike.backfill set finished_at = clock_timestamp(), deletions = false where attachment = $1
)
update alike.attachment set indexed = true where id = $1 and not indexed
