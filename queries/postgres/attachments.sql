-- What the worker has to know of every attachment: id, name, the attachment that it
-- replaces, what is missing of it (NULL where nothing is), the number of its key
-- columns, profile_id, profile, tokens, variants, policy, at_least, matches, verify, what is short and its threshold,
-- mode, distributed, extract, indexed, problem,
-- the number of superfeatures that are columns, whether clusters are kept, whether values of passages are, from which containment
-- the policy acts (NULL where it acts on resemblance), and pieces of SQL by name.
select
  a.id,
  a.name,
  a.replaces,
  case
    when c.oid is null then format('the table of "%s" was dropped', a.name)
    when array_position(alike._current(a), null) > 0
      then format('the column "%s" of %I.%I was dropped', a.columns[array_position(alike._current(a), null)], n.nspname, c.relname)
    when cardinality(alike._key_types(alike._side(a), a.key_columns)) is distinct from cardinality(a.key_columns)
      then format('the side table %I.%I is missing or lacks a key column', a.side_schema, a.side_name)
  end as missing,
  cardinality(a.key_columns) as keys,
  a.profile_id,
  s.profile,
  s.tokens,
  a.variants,
  a.policy,
  a.at_least,
  a.matches,
  coalesce(a.options ->> 'verify', 'sketch'),
  (alike._short(a)).below as short_below,
  (alike._short(a)).at_least as short_at_least,
  a.mode,
  a.distributed,
  a.extract,
  a.indexed,
  a.problem,
  a.superfeatures,
  alike._side(a, '_cluster') is not null as clustered,
  alike._contains(a) as contains,
  case when alike._by_containment(a) then alike._min_held(a) end as min_held,
  jsonb_strip_nulls(alike._fragments(a)) || jsonb_build_object('damaged_s', alike._damaged(a, 's')) as fragments
from alike.attachment a
join alike.settings s on s.id = a.profile_id
left join pg_class c on c.oid = a.source
left join pg_namespace n on n.oid = c.relnamespace
order by a.id
