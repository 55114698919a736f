-- How a report names and reads every attachment, in the order of alike.status():
-- its number, the name that alike.mark takes, its key as text in the side table
-- (alias s), in the tables about pairs (alias m) that of either row, the order
-- of keys, the condition that finds a document (alias d) by a key as text (k.key).
select
  a.id,
  case
    when c.relname = a.name or c.relname is not null and (select count(*) from alike.attachment o where o.source = a.source and o.replaces is null) = 1
      then format('%I.%I', n.nspname, c.relname)
    else a.name
  end as reference,
  alike._key_text(a.key_columns, 's') as key,
  alike._key_text(a.key_columns, 'm') as pair_key,
  alike._key_text(o.names, 'm') as pair_other,
  alike._key_list(a.key_columns, 's') as key_order,
  alike._key_is(a.key_columns, alike._key_types(alike._side(a), a.key_columns), 'd', 'k.key') as is_document
from alike.attachment a
left join pg_class c on c.oid = a.source
left join pg_namespace n on n.oid = c.relnamespace
cross join lateral (select array(select alike._other(a.key_columns, i) from generate_subscripts(a.key_columns, 1) as i order by i)::name[] as names) o
order by a.name, a.id
