-- Whether clusters of attachment $1 integer are kept, by what is committed. While its side
-- table is being filled they are not: they are computed afresh when it is full.
select exists (
  select
  from alike.attachment a
  join pg_namespace n on n.nspname = a.side_schema
  join pg_class c on c.relnamespace = n.oid and c.relname = a.side_name || '_cluster'
  where a.id = $1 and c.relowner = any (alike._makers(a)) and not exists (select from alike.backfill b where b.attachment = a.id and b.finished_at is null))
