-- alike_build_N makes the indexes of the side table. The worker calls it when
-- the table is filled, which is several times as fast as filling it with them.
create function alike._make_builder(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  builder constant text := alike._generated(a, 'build') || '()';
  columns text[] := array(select 'f' || n from generate_series(1, case when alike._in_parts(a) then 0 else a.features end) as n)
    || array(select 'g' || n from generate_series(1, a.superfeatures) as n) || array(select alike._si_column(v) from unnest(a.variants) as v);
begin
  execute format('create or replace function %s returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as %L', builder,
    E'begin\n' || (
      select coalesce(string_agg(format(
        '  if not exists (select from pg_index i join pg_attribute c on c.attrelid = i.indrelid and c.attnum = i.indkey[0] where i.indrelid = %L::regclass and i.indnatts = 1 and i.indisvalid and c.attname = %L) then create index on %I.%I (%I); end if;',
        alike._name(a, ''), c, a.side_schema, a.side_name, c), E'\n' order by n), '')
      from unnest(columns) with ordinality as u(c, n)) || case when alike._contains(a) then alike._build_values(a) else '' end || case when alike._in_parts(a) then alike._build_parts(a) else '' end
    || format(E'\n  analyze %I.%I;\nend', a.side_schema, a.side_name));
  execute format('revoke all on function %s from public', builder);
end
$$;
