-- What the worker has to know of every attachment; relation is NULL when the
-- table is gone, document_type when the column is. fragments are the pieces of SQL
-- that the worker's statements name, as alike._fragments explains them.
select
  a.id,
  a.name,
  a.replaces,
  (select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = a.source) as relation,
  a.column_name,
  (select case when t.typbasetype <> 0 then format_type(t.typbasetype, t.typtypmod) else format_type(t.oid, null) end
   from pg_attribute c join pg_type t on t.oid = c.atttypid
   where c.attrelid = a.source and c.attname = a.column_name and not c.attisdropped) as document_type,
  a.key_columns::text[],
  alike._key_types(alike._side(a), a.key_columns) as key_types,
  a.side_schema,
  a.side_name,
  a.profile_id,
  s.profile,
  a.variants,
  a.policy,
  a.mode,
  a.distributed,
  a.at_least,
  a.row_filter,
  a.extract,
  a.indexed,
  a.problem,
  alike._side(a, '_cluster') is not null as clustered,
  jsonb_strip_nulls(alike._fragments(a)) as fragments
from alike.attachment a
join alike.settings s on s.id = a.profile_id
order by a.id
