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
  perform alike._one_connection();
end
$$;

-- For the rest of the transaction one connection a node: what is made has to be
-- seen by what is made next.
create function alike._one_connection() returns void language sql
set search_path = pg_catalog, pg_temp
as $$ select set_config('citus.multi_shard_modify_mode', 'sequential', true) $$;

-- The sketches and matches of a row lie on the node where the row is, and every
-- node has the verdicts. What compares sketches there must be there.
create function alike._distribute(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  column_name text;
  part text;
begin
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

-- alike_probe_N puts the features of every row into a table that is distributed
-- by feature, so that rows which share one are on the same node. It runs as its
-- owner, as alike_build_N does: whoever asks for pairs owns no table. Until his
-- transaction ends, whoever else asks waits.
create function alike._make_probe(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  probe constant text := format('%I.%I', a.side_schema, a.side_name || '_probe');
  fill constant text := format('%I.%I()', a.side_schema, 'alike_probe_' || a.id);
begin
  if to_regclass(probe) is null then
    execute format('create unlogged table %s (feature bigint not null, slot smallint not null, %s)', probe,
      (select string_agg(format('%I %s not null', k, (alike._key_types(alike._side(a), a.key_columns))[n]), ', ' order by n) from unnest(a.key_columns) with ordinality as u(k, n)));
    execute 'select create_distributed_table($1, ''feature'', colocate_with => ''none'')' using probe::regclass;
    perform alike._grant('select', probe, 'alike_reader');
    perform alike._grant('select', probe, 'alike_admin');
  end if;
  execute format('create or replace function %s returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as %L', fill, format(
    E'begin\n  truncate %s;\n  insert into %s (feature, slot, %s) select v.feature, v.slot, %s from %s s cross join lateral (values %s) as v(slot, feature) where s.profile = %s and v.feature is not null;\nend',
    probe, probe, (select string_agg(quote_ident(k), ', ' order by n) from unnest(a.key_columns) with ordinality as u(k, n)), alike._key_list(a.key_columns, 's'), alike._side(a),
    (select string_agg(format('(%s::smallint, s.f%s)', n, n), ', ' order by n) from generate_series(1, a.features) as n), a.profile_id));
  execute format('revoke all on function %s from public', fill);
  perform alike._grant('execute', 'function ' || fill, 'alike_reader');
  perform alike._grant('execute', 'function ' || fill, 'alike_admin');
end
$$;

-- The candidates of all pairs, verified, as the beginning of a WITH: the join by
-- feature is done where the features are, and the sketches are fetched for the
-- distinct pairs alone, one side of the pair after the other.
create function alike._pairs_across_nodes(a alike.attachment) returns text language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  others constant name[] := array(select alike._other(keys, n) from generate_subscripts(keys, 1) as n order by n)::name[];
  probe constant regclass := alike._side(a, '_probe');
  mark constant regclass := alike._side(a, '_mark');
  shared_features constant text := (select string_agg(format('coalesce((x.f%s = s.f%s)::integer, 0)', n, n), ' + ' order by n) from generate_series(1, a.features) as n);
begin
  execute format('select %I.%I()', a.side_schema, 'alike_probe_' || a.id);
  return format('found as materialized (select distinct %1$s from %2$s x join %2$s y on y.feature = x.feature and y.slot = x.slot and %3$s),
    verdict as materialized (select %4$s, m.verdict from %5$s m),
    pair as materialized (
      select f.*, false as marked from found f where not exists (select from verdict m where %6$s)
      union all select %7$s, true from verdict m where m.verdict = ''duplicate''),
    x as materialized (select p.*, s.sketch, %8$s from pair p join %9$s s on %10$s where s.profile = %11$s),
    verified as materialized (
      select %12$s as key, %13$s as other, %14$s as shared, alike.resemblance(x.sketch, s.sketch) as resemblance, x.sketch, s.sketch as other_sketch, x.marked
      from x join %9$s s on %15$s where s.profile = %11$s)',
    alike._key_list(keys, 'x') || (select string_agg(format(', y.%I as %I', keys[n], others[n]), '' order by n) from generate_subscripts(keys, 1) as n),
    probe,
    alike._key_less(keys, 'x', 'y'),
    alike._key_list(keys, 'm') || ', ' || alike._key_list(others, 'm'),
    mark,
    alike._key_equal(keys, 'm', 'f') || ' and ' || alike._key_equal(others, 'm', 'f'),
    alike._key_list(keys, 'm') || ', ' || alike._key_list(others, 'm'),
    (select string_agg('s.f' || n, ', ' order by n) from generate_series(1, a.features) as n),
    alike._side(a),
    alike._key_equal(keys, 's', 'p'),
    a.profile_id,
    alike._key_text(keys, 'x'),
    alike._key_text(others, 'x'),
    shared_features,
    (select string_agg(format('s.%I = x.%I', keys[n], others[n]), ' and ' order by n) from generate_subscripts(keys, 1) as n));
end
$$;
