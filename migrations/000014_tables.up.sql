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

-- The side table: made, or found as an earlier detach has left it. That of an unlogged
-- table is unlogged: after a crash both are empty.
create function alike._make_side(a alike.attachment, types text[], unlogged boolean) returns regclass language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  side constant text := alike._name(a, '');
  expected constant text[] := a.key_columns::text[] || alike._computed(a) || array['sketched_at'];
  present text[];
begin
  if to_regclass(side) is null then
    execute format('create %s table %s (%s, %s, sketched_at timestamptz not null default now(), constraint %I primary key (%s))',
      case when unlogged then 'unlogged' end, side, alike._column_list(a.key_columns, types),
      (select string_agg(format('%I %s', c, case c when 'profile' then 'smallint not null' when 'content_hash' then 'bigint not null'
         when 'shingles' then 'bigint not null' when 'sketch' then 'bytea' when 'passages' then 'bigint[]' else 'bigint' end), ', ' order by n)
       from unnest(alike._computed(a)) with ordinality as u(c, n)),
      a.side_name || '_pkey', alike._names(a.key_columns));
  else
    present := array(select attname from pg_attribute where attrelid = to_regclass(side) and attnum > 0 and not attisdropped order by attnum)::text[];
    if present <> expected then
      raise exception 'alike: % exists with other columns: has %, want %', side, array_to_string(present, ' '), array_to_string(expected, ' ')
        using errcode = 'duplicate_table', hint = 'Drop it, or give the attachment another name.';
    end if;
  end if;
  return to_regclass(side);
end
$$;

create function alike._column_list(columns name[], types text[]) returns text language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select string_agg(format('%I %s not null', c, types[n]), ', ' order by n) from unnest(columns) with ordinality as u(c, n) $$;

-- A table about pairs of rows.
create function alike._make_pair_table(a alike.attachment, suffix text, columns text) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  types constant text[] := alike._column_types(alike._side(a), a.key_columns);
  others constant name[] := alike._others(a.key_columns);
begin
  execute format('create %s table if not exists %s (%s, %s, %s, constraint %I primary key (%s, %s))',
    (select case relpersistence when 'u' then 'unlogged' end from pg_class where oid = alike._side(a)), alike._name(a, suffix),
    alike._column_list(a.key_columns, types), alike._column_list(others, types), columns,
    a.side_name || suffix || '_pkey', alike._names(a.key_columns), alike._names(others));
  execute format('create index if not exists %I on %s (%s)', a.side_name || suffix || '_other', alike._name(a, suffix), alike._names(others));
end
$$;

-- The equality join, one arm a feature. In the parts, an entry leads to the other row.
create function alike._pair_arms(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select string_agg(format('select %s, %s, %s as slot from %s a join %s b on b.f%s = a.f%s and not (%s)',
    alike._key_list(a.key_columns, 'a'),
    (select string_agg(format('b.%I as %I', k, alike._other(a.key_columns, m)), ', ' order by m) from unnest(a.key_columns) with ordinality as v(k, m)),
    n, alike._side(a),
    case when alike._in_parts(a) then format('%s p on p.f%s = a.f%2$s join', alike._name(a, '_part'), n) else '' end || ' ' || alike._side(a),
    n, n, alike._key_equal(a.key_columns, 'a', 'b') || case when alike._in_parts(a) then ') and (' || alike._counts(a, 'p', 'b') else '' end), ' union all ' order by n)
  from generate_series(1, a.features) as n
$$;

-- The features as rows, one arm a feature, so that a condition on a feature and a join go
-- through its index. PostgreSQL does that where an arm reads one table and has no condition. In the parts an
-- arm reads the entries, and the row of an entry is joined to all of them.
create function alike._feature_arms(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('select %s, v.slot, v.feature from (%s) v%s where v.feature is not null', alike._key_list(a.key_columns, case when p.parts then 's' else 'v' end),
    string_agg(format('select %s, %s as slot, a.f%2$s as feature from %s a', alike._key_list(a.key_columns, 'a') || case when p.parts then ', a.alike_entry' else '' end, n,
      alike._name(a, case when p.parts then '_part' else '' end)), ' union all ' order by n),
    case when p.parts then format(' join %s s on %s', alike._name(a, ''), alike._counts(a, 'v', 's')) else '' end)
  from generate_series(1, a.features) as n cross join (select alike._in_parts(a) as parts) p
  group by p.parts
$$;

-- All features as rows, in one pass over the table.
create function alike._features_in_one_pass(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('select %s, v.slot, v.feature from %s a cross join lateral (values %s) as v(slot, feature) where v.feature is not null', alike._key_list(a.key_columns, 'a'), alike._name(a, ''),
    (select string_agg(format('(%s, a.f%s)', n, n), ', ' order by n) from generate_series(1, a.features) as n))
$$;

-- The view _feature or _pair, which plain SQL reads.
create function alike._make_view(a alike.attachment, suffix text) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('create or replace view %s as %s', alike._name(a, suffix), case suffix
    when '_feature' then case when a.distributed then alike._features_in_one_pass(a) else alike._feature_arms(a) end
    when '_pair' then case when a.distributed then alike._pair_across_nodes(a) else alike._pair_arms(a) end end);
end
$$;

-- The rows that have a feature in slot n, as a table to join: feature is an expression, and
-- each row has the given alias. OFFSET keeps the planner from beginning with the rows.
create function alike._rows_with(a alike.attachment, n integer, feature text, alias text) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when alike._in_parts(a)
    then format('(select s.* from %s p join %s s on %s where p.f%s = %s offset 0)', alike._name(a, '_part'), alike._name(a, ''), alike._counts(a, 'p', 's'), n, feature)
    else format('(select s.* from %s s where s.f%s = %s)', alike._name(a, ''), n, feature) end || ' ' || alias
$$;

-- The tables about pairs and the views.
create function alike._make_tables(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform alike._make_pair_table(a, '_match', 'shared integer not null, resemblance double precision not null, low double precision not null, high double precision not null, omitted integer not null, relation text not null, policy text not null, matched_at timestamptz not null default now()');
  perform alike._make_pair_table(a, '_mark', format('verdict text not null constraint %I check (verdict in (''duplicate'', ''distinct'')), note text, marked_at timestamptz not null default now(), marked_by name not null default session_user',
    a.side_name || '_verdict'));
  if a.distributed then
    perform alike._distribute(a);
  end if;
  perform alike._make_view(a, '_feature'), alike._make_view(a, '_pair');
  execute format('comment on table %s is %L', alike._name(a, ''), format('Alike: sketches of %s.%I', a.source, a.column_name));
  perform alike._protect(a);
  perform alike._switch_clusters(a);
end
$$;

-- The functions of one attachment.
create function alike._make_functions(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform alike._make_builder(a);
  perform alike._make_similar(a);
  perform alike._make_forget(a);
  if alike._contains(a) then
    perform alike._make_values_function(a);
    perform alike._make_holding(a);
  end if;
  if alike._in_parts(a) then
    perform alike._make_part_functions(a);
  end if;
end
$$;

-- Takes locks on a table and its side tables that others may hold, for as little as can be:
-- each try waits a moment that shuts others out, and leaves a gap that lets them in. A try ends
-- before the server looks for deadlocks, which are no program's to suffer. It says who holds
-- the tables, and gives up after alike.patience.
create function alike._patiently(a alike.attachment, verb text, statements text[]) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  patience constant interval := coalesce(nullif(current_setting('alike.patience', true), ''), '1 minute')::interval;
  began constant timestamptz := clock_timestamp();
  before constant text := current_setting('lock_timeout');
  statement text;
  relation regclass;
  holders text;
  said text;
begin
  if a.distributed then -- Citus drops no function after a statement that used several connections, and locks by itself
    perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
    foreach statement in array statements loop
      execute statement;
    end loop;
    return;
  end if;
  loop
    begin
      perform set_config('lock_timeout', '200ms', true);
      foreach statement in array statements loop
        execute statement;
      end loop;
      perform set_config('lock_timeout', before, true);
      return;
    exception
      when lock_not_available then
        null;
    end;
    select l.relation, string_agg(distinct format('process %s (%s%s, %s)', s.pid, s.usename, ', ' || nullif(s.application_name, ''),
        case when s.state = 'active' then 'active' else format('%s for %s', s.state, date_trunc('second', clock_timestamp() - s.state_change)) end), ', ')
    into relation, holders
    from pg_locks l join pg_stat_activity s on s.pid = l.pid
    where l.relation in (
        select a.source union all
        select alike._side(a, suffix) from unnest(array['', '_match', '_mark', '_cluster', '_event', '_value', '_part', '_probe', '_pair', '_feature']) as suffix where verb <> 'attach' union all
        select p.part from alike._parts(a.id, a.side_schema) p where verb <> 'attach')
      and l.database = (select oid from pg_database where datname = current_database())
      and l.granted and l.pid <> pg_backend_pid() and (verb <> 'attach' or l.mode not in ('AccessShareLock', 'RowShareLock'))
    group by l.relation order by l.relation <> a.source, l.relation limit 1;
    relation := coalesce(relation, a.source);
    if clock_timestamp() > began + patience then
      raise exception 'alike: %: % is locked by %', verb, relation, coalesce(holders, 'others')
        using errcode = 'lock_not_available', hint = 'Try again when they are done, or set alike.patience to a longer time, such as 10min.';
    elsif holders is distinct from said and holders is not null then
      raise notice 'alike: %: % is locked by %; trying until %', verb, relation, holders, date_trunc('second', began + patience);
      said := holders;
    end if;
    perform pg_sleep(0.5 + random() * 0.5);
  end loop;
end
$$;
