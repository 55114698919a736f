-- Whether clusters of attachment $1 integer are kept, by what is committed.
select exists (
  select
  from alike.attachment a
  join pg_namespace n on n.nspname = a.side_schema
  join pg_class c on c.relnamespace = n.oid and c.relname = a.side_name || '_cluster'
  where a.id = $1)
