-- Tables that Citus distributes. Without Citus nothing here is called.

-- Refuses what cannot be attached.
create function alike._check_distributed(relation regclass, distributed boolean, options jsonb) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  method "char";
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    execute 'select partmethod from pg_catalog.pg_dist_partition where logicalrelid = $1' into method using relation;
  elsif distributed then
    raise exception 'alike: attach: distributed: Citus is not installed in this database' using errcode = 'feature_not_supported';
  end if;
  if method = 'h' and not distributed then
    raise exception 'alike: attach: Citus distributes %', relation using errcode = 'feature_not_supported',
      hint = 'Attach it with {"distributed": true}.';
  elsif not distributed then
    return;
  elsif method is distinct from 'h' then
    raise exception 'alike: attach: distributed: % is not distributed by a column', relation using errcode = 'feature_not_supported',
      hint = 'select create_distributed_table(table, key) distributes it; without the option it is attached as a table of the coordinator.';
  elsif options ->> 'mode' = 'queue' then
    raise exception 'alike: attach: mode queue needs triggers, which Citus does not allow on the distributed table %', relation using errcode = 'feature_not_supported';
  elsif options ? 'ask' then
    raise exception 'alike: attach: ask needs triggers, which Citus does not allow on the distributed table %', relation
      using errcode = 'feature_not_supported', hint = 'alike.gate judges a document by the sketch that its program brings.';
  end if;
  -- What attach makes has to be seen by what it makes next.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
end
$$;

-- The sketches and matches of a row lie on the node where the row is, and every
-- node has the verdicts. What compares sketches has to be there, too: where
-- Citus came after the schema alike, it has not brought the functions.
create function alike._distribute(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  column_name text;
  part text;
  pure regprocedure;
begin
  for pure in
    execute 'select p.oid from pg_proc p
      where p.pronamespace = ''alike''::regnamespace and p.provolatile = ''i'' and ''alike.attachment''::regtype <> all (p.proargtypes)
        and not exists (select from pg_dist_object d where d.classid = ''pg_proc''::regclass and d.objid = p.oid)
      order by p.oid <> ''alike._invalid(alike.profile_fields)''::regprocedure, p.oid' loop -- the type first, which it brings
    execute 'select create_distributed_function($1)' using pure;
  end loop;
  execute 'select column_to_column_name(logicalrelid, partkey) from pg_dist_partition where logicalrelid = $1' into column_name using a.source;
  foreach part in array array['', '_match'] loop
    execute 'select create_distributed_table($1, $2, colocate_with => $3) where not exists (select from pg_dist_partition where logicalrelid = $1)'
    using alike._side(a, part), column_name, a.source::text;
  end loop;
  execute 'select create_reference_table($1) where not exists (select from pg_dist_partition where logicalrelid = $1)' using alike._side(a, '_mark');
  perform alike._make_probe(a);
end
$$;

-- The equality join where the rows that share a feature lie on several nodes:
-- every node gets the features of all rows, once for all slots.
create function alike._pair_across_nodes(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('with b as materialized (select * from %1$s) select %2$s, %3$s, a.slot from %1$s a join b on b.feature = a.feature and b.slot = a.slot and not (%4$s)',
    alike._side(a, '_feature'), alike._key_list(a.key_columns, 'a'),
    (select string_agg(format('b.%I as %I', k, alike._other(a.key_columns, n)), ', ' order by n) from unnest(a.key_columns) with ordinality as u(k, n)),
    alike._key_equal(a.key_columns, 'a', 'b'))
$$;

-- alike_probe_N finds the pairs of rows that share a feature. It puts the
-- features into a table that is distributed by feature, so that the rows which
-- share one are on the same node, and joins them there. It runs as its owner, as
-- alike_build_N does, because a role that asks for pairs owns no table. Other
-- callers wait until the first caller's transaction ends.
create function alike._make_probe(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  types constant text[] := alike._key_types(alike._side(a), keys);
  probe constant text := alike._name(a, '_probe');
  pairs constant text := alike._generated(a, 'probe') || '()';
  columns constant text := alike._names(keys);
begin
  if to_regclass(probe) is null then
    execute format('create unlogged table %s (feature bigint not null, slot smallint not null, %s)', probe,
      (select string_agg(format('%I %s not null', keys[n], types[n]), ', ' order by n) from generate_subscripts(keys, 1) as n));
    execute 'select create_distributed_table($1, ''feature'', colocate_with => ''none'')' using probe::regclass;
  end if;
  execute format('create or replace function %s returns table (%s, %s) language plpgsql security definer set search_path = pg_catalog, pg_temp as %L', pairs,
    (select string_agg(format('%I %s', keys[n], types[n]), ', ' order by n) from generate_subscripts(keys, 1) as n),
    (select string_agg(format('%I %s', alike._other(keys, n), types[n]), ', ' order by n) from generate_subscripts(keys, 1) as n),
    format(
$function$
#variable_conflict use_column
begin
  truncate %1$s;
  insert into %1$s (feature, slot, %2$s)
  select v.feature, v.slot, %3$s from %4$s s cross join lateral (values %5$s) as v(slot, feature) where s.profile = %6$s and v.feature is not null;
  return query select distinct %7$s, %8$s from %1$s x join %1$s y on y.feature = x.feature and y.slot = x.slot and %9$s;
end
$function$,
      probe, columns, alike._key_list(keys, 's'), alike._side(a),
      (select string_agg(format('(%s::smallint, s.f%s)', n, n), ', ' order by n) from generate_series(1, a.features) as n),
      a.profile_id, alike._key_list(keys, 'x'), alike._key_list(keys, 'y'), alike._key_less(keys, 'x', 'y')));
  execute format('revoke all on function %s from public', pairs);
  perform alike._grant('execute', 'function ' || pairs, 'alike_reader');
end
$$;

-- All pairs, verified, as the beginning of a WITH. Sketches are fetched for the
-- distinct pairs alone, one side of the pair after the other.
create function alike._pairs_across_nodes(a alike.attachment) returns text language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  others constant name[] := alike._others(keys);
  shared_features constant text := (select string_agg(format('coalesce((x.f%s = s.f%s)::integer, 0)', n, n), ' + ' order by n) from generate_series(1, a.features) as n);
begin
  return format('found as materialized (select * from %1$s),
    verdict as materialized (select %2$s, m.verdict from %3$s m),
    pair as materialized (
      select f.*, false as marked from found f where not exists (select from verdict m where %4$s)
      union all select %2$s, true from verdict m where m.verdict = ''duplicate''),
    x as materialized (select p.*, s.sketch, s.shingles, %5$s from pair p join %6$s s on %7$s where s.profile = %8$s and %13$s),
    verified as materialized (
      select %9$s as key, %10$s as other, %11$s as shared, coalesce(alike.resemblance(x.sketch, s.sketch), 0) as resemblance, x.sketch, s.sketch as other_sketch, least(x.shingles, s.shingles) as size, x.marked
      from x join %6$s s on %12$s where s.profile = %8$s and %13$s)',
    alike._generated(a, 'probe') || '()',
    alike._key_list(keys, 'm') || ', ' || alike._key_list(others, 'm'),
    alike._side(a, '_mark'),
    alike._key_equal(keys, 'm', 'f') || ' and ' || alike._key_equal(others, 'm', 'f'),
    (select string_agg('s.f' || n, ', ' order by n) from generate_series(1, a.features) as n),
    alike._side(a),
    alike._key_equal(keys, 's', 'p'),
    a.profile_id,
    alike._key_text(keys, 'x'),
    alike._key_text(others, 'x'),
    shared_features,
    alike._key_equal(keys, 's', 'x', others),
    alike._sound(a, 's'));
end
$$;
