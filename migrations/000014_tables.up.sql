-- The side table, its views and the tables about pairs.

create function alike._grant(privileges text, object text, role text) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regrole(role) is not null then
    execute format('grant %s on %s to %I', privileges, object, role);
  end if;
end
$$;

-- The side table, its views and the tables of pairs.
create function alike._make_tables(a alike.attachment, types text[]) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  keys constant name[] := a.key_columns;
  columns text;
  others text;
  side constant text := alike._name(a, '');
  expected text[];
  present text[];
  object text;
begin
  select string_agg(format('%I %s not null', k, types[n]), ', ' order by n),
         string_agg(format('%I %s not null', alike._other(keys, n), types[n]), ', ' order by n)
  into columns, others
  from unnest(keys) with ordinality as u(k, n);
  expected := array(select k from unnest(keys) with ordinality as u(k, n) order by n)::text[]
    || array['profile', 'content_hash', 'shingles', 'sketch']
    || array(select 'f' || n from generate_series(1, a.features) as n)
    || array(select alike._si_column(v) from unnest(a.variants) with ordinality as u(v, n) order by n)
    || array['sketched_at'];
  if to_regclass(side) is null then
    execute format(
      'create table %s (%s, profile smallint not null, content_hash bigint not null, shingles bigint not null, sketch bytea, %s%s sketched_at timestamptz not null default now(), constraint %I primary key (%s))',
      side, columns,
      (select string_agg(format('f%s bigint, ', n), '' order by n) from generate_series(1, a.features) as n),
      (select coalesce(string_agg(format('%I bigint, ', alike._si_column(v)), '' order by n), '') from unnest(a.variants) with ordinality as u(v, n)),
      a.side_name || '_pkey', alike._names(keys));
  else
    present := array(select attname from pg_attribute where attrelid = side::regclass and attnum > 0 and not attisdropped order by attnum)::text[];
    if present <> expected then
      raise exception 'alike: % exists with other columns: has %, want %', side, array_to_string(present, ' '), array_to_string(expected, ' ')
        using errcode = 'duplicate_table', hint = 'Drop it, or give the attachment another name.';
    end if;
  end if;
  execute format('create table if not exists %I.%I (%s, %s, shared integer not null, resemblance double precision not null, low double precision not null, high double precision not null, policy text not null, matched_at timestamptz not null default now(), constraint %I primary key (%s, %s))',
    a.side_schema, a.side_name || '_match', columns, others, a.side_name || '_match_pkey',
    alike._names(keys),
    alike._names(alike._others(keys)));
  execute format('create table if not exists %I.%I (%s, %s, verdict text not null constraint %I check (verdict in (''duplicate'', ''distinct'')), note text, marked_at timestamptz not null default now(), marked_by name not null default session_user, constraint %I primary key (%s, %s))',
    a.side_schema, a.side_name || '_mark', columns, others, a.side_name || '_verdict', a.side_name || '_mark_pkey',
    alike._names(keys),
    alike._names(alike._others(keys)));
  foreach object in array array['_match', '_mark'] loop
    execute format('create index if not exists %I on %I.%I (%s)', a.side_name || object || '_other', a.side_schema, a.side_name || object,
      alike._names(alike._others(keys)));
  end loop;
  if a.distributed then
    perform alike._distribute(a);
  end if;
  execute format('create or replace view %I.%I as select %s, v.slot, v.feature from %s a cross join lateral (values %s) as v(slot, feature) where v.feature is not null',
    a.side_schema, a.side_name || '_feature', alike._key_list(keys, 'a'), side,
    (select string_agg(format('(%s, a.f%s)', n, n), ', ' order by n) from generate_series(1, a.features) as n));
  -- The equality join, one arm a feature.
  execute format('create or replace view %I.%I as %s', a.side_schema, a.side_name || '_pair', case when a.distributed then alike._pair_across_nodes(a) else (
    select string_agg(format('select %s, %s, %s as slot from %s a join %s b on b.f%s = a.f%s and not (%s)',
      alike._key_list(keys, 'a'),
      (select string_agg(format('b.%I as %I', k, alike._other(keys, m)), ', ' order by m) from unnest(keys) with ordinality as v(k, m)),
      n, side, side, n, n, alike._key_equal(keys, 'a', 'b')), ' union all ' order by n)
    from generate_series(1, a.features) as n) end);
  execute format('comment on table %s is %L', side, format('Alike: sketches of %s.%I', a.source, a.column_name));
  perform alike._protect(a);
end
$$;
