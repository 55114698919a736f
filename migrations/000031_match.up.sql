-- Records what rows resemble that the worker has just written, and announces it
-- on the channel alike_match. The worker holds the attachment's lock.
create function alike._match(a alike.attachment, given text[]) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  types constant text[] := alike._key_types(alike._side(a), keys);
  match constant text := alike._name(a, '_match');
  others constant name[] := alike._others(keys);
  found_keys text[];
  found_others text[];
  shares integer[];
  resemblances double precision[];
  lows double precision[];
  highs double precision[];
begin
  select array_agg(k.key), array_agg(r.key), array_agg(r.shared), array_agg(r.resemblance), array_agg(r.low), array_agg(r.high)
  into found_keys, found_others, shares, resemblances, lows, highs
  from unnest(given) as k(key) cross join lateral alike._similar(a, null, null, k.key, a.at_least) r;
  if found_keys is null then
    return 0;
  end if;
  execute format('insert into %s (%s, %s, shared, resemblance, low, high, policy)
      select %s, %s, f.shared, f.resemblance, f.low, f.high, $7 from unnest($1, $2, $3, $4, $5, $6) as f(key, other, shared, resemblance, low, high)',
    match, alike._names(keys),
    alike._names(others),
    array_to_string(alike._key_values(keys, types, 'f.key'), ', '), array_to_string(alike._key_values(keys, types, 'f.other'), ', '))
  using found_keys, found_others, shares, resemblances, lows, highs, a.policy;
  if a.policy <> 'link' then
    perform pg_notify('alike_match', json_build_object('name', a.name, 'key', f.key, 'other', f.other, 'resemblance', f.resemblance)::text)
    from unnest(found_keys, found_others, resemblances) as f(key, other, resemblance);
  end if;
  return cardinality(found_keys);
end
$$;
