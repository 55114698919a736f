-- Records what the rows resemble that the worker has just written: of each the nearest, as
-- many as the option matches says, and the number of the others. Matches grow with the
-- rows, and not with their square. It announces them on the channel alike_match unless the
-- policy is link. The worker holds the attachment's lock.
create function alike._match(a alike.attachment, given text[]) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  recorded bigint;
begin
  execute alike._fill(
    'with found as materialized (
       select g.key, r.key as other, r.shared, r.resemblance, r.low, r.high, (r.total - least(r.total, $2))::integer as omitted
       from unnest($1) as g(key) cross join lateral {similar}(null, null, g.key, $3, $2) r),
     recorded as (
       insert into {match} ({keys}, {others}, shared, resemblance, low, high, omitted, policy)
       select {values}, {other_values}, k.shared, k.resemblance, k.low, k.high, k.omitted, $4 from found k),
     announced as materialized (
       select pg_notify(''alike_match'', json_build_object(''name'', $5, ''key'', k.key, ''other'', k.other, ''resemblance'', k.resemblance, ''omitted'', k.omitted)::text)
       from found k where $4 <> ''link'')
     select (select count(*) from found) + 0 * (select count(*) from announced)',
    alike._fragments(a) || jsonb_build_object('other_values',
      array_to_string(alike._key_values(a.key_columns, alike._key_types(alike._side(a), a.key_columns), 'k.other'), ', ')))
  into recorded using given, a.matches, a.at_least, a.policy, a.name;
  return recorded;
end
$$;
