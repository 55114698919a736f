-- How a report names and reads every attachment, in the order of alike.status():
-- replaces (NULL unless it is about to take another's place), name, column_name,
-- profile_id, profile, policy, mode, at_least, variants, extract, keys, the side
-- table and those about pairs, the name that alike.mark takes, the table and the
-- type of its column (NULL when they are gone), and as pieces of SQL: the key as
-- text in the side table (alias s), in the tables about pairs (alias m) that of
-- either row, the order of keys, the condition that finds a document (alias d)
-- by a key as text (k.key), NULL when the side table is gone; the threshold of
-- pairs with a short text; and the condition that the sketch of a row s is not damaged.
select
  a.replaces,
  a.name,
  a.column_name,
  a.profile_id,
  p.profile,
  a.policy,
  a.mode,
  a.at_least,
  a.variants,
  a.extract,
  a.key_columns::text[] as keys,
  alike._name(a, '') as side,
  alike._name(a, '_match') as match,
  alike._name(a, '_mark') as mark,
  case
    when c.relname = a.name or c.relname is not null and (select count(*) from alike.attachment o where o.source = a.source and o.replaces is null) = 1
      then format('%I.%I', n.nspname, c.relname)
    else a.name
  end as reference,
  format('%I.%I', n.nspname, c.relname) as relation,
  (select format_type(case when y.typbasetype <> 0 then y.typbasetype else y.oid end, null)
   from pg_attribute t join pg_type y on y.oid = t.atttypid
   where t.attrelid = a.source and t.attname = a.column_name and not t.attisdropped) as document_type,
  alike._key_text(a.key_columns, 's') as key,
  alike._key_text(a.key_columns, 'm') as pair_key,
  alike._key_text(o.names, 'm') as pair_other,
  alike._key_list(a.key_columns, 's') as key_order,
  alike._key_is(a.key_columns, alike._key_types(alike._side(a), a.key_columns), 'd', 'k.key') as is_document,
  (alike._short(a)).at_least as short_at_least,
  (alike._short(a)).below as short_below,
  alike._sound(a, 's') as sound
from alike.attachment a
join alike.settings p on p.id = a.profile_id
left join pg_class c on c.oid = a.source
left join pg_namespace n on n.oid = c.relnamespace
cross join lateral (select array(select alike._other(a.key_columns, i) from generate_subscripts(a.key_columns, 1) as i order by i)::name[] as names) o
order by a.name, a.id
