-- Records pairs that the worker has found of rows that it has just written: of each the
-- nearest, as many as the option matches says, and the number of the others. Matches grow with the
-- rows, and not with their square. It announces them on the channel alike_match unless the
-- policy is link. The worker holds the attachment's lock.
create function alike._record(a alike.attachment, keys text[], others text[], shared integer[], resemblance double precision[],
  low double precision[], high double precision[], omitted integer[], relations text[] default null)
returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  recorded bigint;
begin
  execute alike._fill(
    'with found as materialized (
       select * from unnest($1, $2, $3, $4, $5, $6, $7, $10) as k(key, other, shared, resemblance, low, high, omitted, relation)),
     recorded as (
       insert into {match} ({keys}, {others}, shared, resemblance, low, high, omitted, relation, policy)
       select {values}, {other_values}, k.shared, k.resemblance, k.low, k.high, k.omitted, coalesce(k.relation, ''resembles''), $8 from found k),
     announced as materialized (
       select pg_notify(''alike_match'', json_build_object(''name'', $9, ''key'', k.key, ''other'', k.other, ''resemblance'', k.resemblance, ''omitted'', k.omitted, ''relation'', coalesce(k.relation, ''resembles''))::text)::text as said -- Citus keeps no column of type void
       from found k where $8 <> ''link'')
     select (select count(*) from found) + 0 * (select count(*) from announced)',
    alike._fragments(a) || jsonb_build_object('other_values',
      array_to_string(alike._key_values(a.key_columns, alike._key_types(alike._side(a), a.key_columns), 'k.other'), ', ')))
  into recorded using keys, others, shared, resemblance, low, high, omitted, a.policy, a.name, relations;
  return recorded;
end
$$;

-- Records what the rows resemble by their sketches, or, by containment, what they contain
-- and what contains them by their values.
create function alike._match(a alike.attachment, given text[]) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  recorded bigint;
  short constant record := alike._short(a);
begin
  if alike._by_containment(a) then
    return alike._record(a, array_agg(q.key), array_agg(q.other), array_agg(q.shared), array_agg(q.containment), array_agg(q.low), array_agg(q.high),
      array_agg((q.total - least(q.total, a.matches))::integer), array_agg(q.relation))
    from (select h.*, row_number() over (partition by h.key order by h.place) as nearest, count(*) over (partition by h.key) as total
          from (select distinct on (d.key, d.other) d.* from alike._held(a, given) d order by d.key, d.other, d.place) h
          where h.containment >= alike._min_held(a)) q
    where q.nearest <= a.matches;
  end if;
  execute alike._fill(
    'select alike._record($4, array_agg(g.key), array_agg(r.key), array_agg(r.shared), array_agg(r.resemblance), array_agg(r.low), array_agg(r.high),
       array_agg((r.total - least(r.total, $2))::integer))
     from unnest($1) as g(key) cross join lateral {similar}(null::bigint[], null::bytea, g.key, $3, $2, $5, $6) r',
    alike._fragments(a))
  into recorded using given, a.matches, a.at_least, a, short.at_least, short.below;
  return recorded;
end
$$;
