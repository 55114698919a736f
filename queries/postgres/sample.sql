-- How a sample of column $2 text of table $1 text is read, $3 integer rows or more of a
-- table that has them; how its rows are counted; and about how many there are, -1 where that
-- is not known or they are few. A sample is whole pages from all over the table.
select
  format('select %s from %s%s where %s is not null', case when t.document = 'bytea'::regtype then t.name else format('convert_to(%s::text, ''UTF8'')', t.name) end, t.source,
    case when t.rows > $3::integer then format(' tablesample system (%s) repeatable (1997)', least(100, 500.0 * $3::integer / t.rows)::numeric(10, 6)) else '' end, t.name),
  format('select count(*) from %s', t.source),
  case when t.rows > 100000 then t.rows else -1 end
from (
  select format('%I.%I', n.nspname, c.relname) as source, quote_ident(d.name) as name, d.type as document, c.reltuples::bigint as rows
  from (select alike._relation($1) as oid) r
  join pg_class c on c.oid = r.oid
  join pg_namespace n on n.oid = c.relnamespace
  cross join lateral alike._document_column(c.oid, $2) d
) t
