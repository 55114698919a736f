-- Who sees what attach has made. The side tables belong to the owner of the table, and
-- every other role sees a row of theirs exactly where it sees the row of the table.

-- alike_sees_N() says whether the caller sees every row of the table, alike_sees_N(key)
-- whether he sees that one and may read its document. They are functions and not part of
-- the policies, which would keep the owner from dropping his table or its column, and
-- what they say can change without a lock on the tables that the policies guard.
create function alike._make_sees(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  current_keys constant name[] := alike._current_keys(a);
  document constant name := alike._current_document(a);
  sees constant text := alike._generated(a, 'sees');
  reveal constant boolean := coalesce((a.options ->> 'reveal')::boolean, false);
  source constant text := (select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = a.source);
begin
  execute format('create or replace function %s() returns boolean language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as %L', sees, format(
    'begin return (has_table_privilege(%1$L, ''select'') or %2$s)%3$s; end', source,
    (select string_agg(format('has_column_privilege(%L, %L, ''select'')', source, c), ' and ') from (select distinct unnest(current_keys || document) as c) u),
    case when reveal then '' else format(' and not row_security_active(%L)', source) end));
  execute format('create or replace function %s(%s) returns boolean language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as %L', sees,
    array_to_string(alike._key_types(alike._side(a), a.key_columns), ', '), format(
    'begin return exists (select from %s d where %s and (d.%I is null) is not null); end', source,
    (select string_agg(format('d.%I = $%s', k, n), ' and ' order by n) from unnest(current_keys) with ordinality as u(k, n)), document));
end
$$;

-- Lets other roles read those of an attachment's tables that are named by their suffixes,
-- row by row. It locks them against everybody.
create function alike._protect_tables(a alike.attachment, suffixes text[]) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  keys constant name[] := a.key_columns;
  sees constant text := alike._generated(a, 'sees');
  all_of_it constant text := format('(select %s())', sees);
  p record;
begin
  for p in
    select alike._name(a, suffix) as relation, condition
    from (values
      ('', format('%s or %s(%s)', all_of_it, sees, alike._names(keys))),
      ('_value', format('%s or %s(%s)', all_of_it, sees, alike._names(keys))),
      ('_part', format('%s or %s(%s)', all_of_it, sees, alike._names(keys))),
      ('_match', format('%1$s or %2$s(%3$s) and %2$s(%4$s)', all_of_it, sees, alike._names(keys), alike._names(alike._others(keys)))),
      ('_mark', format('%1$s or %2$s(%3$s) and %2$s(%4$s)', all_of_it, sees, alike._names(keys), alike._names(alike._others(keys)))),
      -- A cluster counts the hidden rows, and its events name them.
      ('_event', all_of_it),
      ('_cluster', all_of_it)) as v(suffix, condition)
    where suffix = any (suffixes) and alike._side(a, suffix) is not null loop
    -- The policies of tables on other nodes would ask there who asks.
    if not a.distributed then
      execute format('alter table %s enable row level security', p.relation);
      execute format('drop policy if exists alike_asker on %s', p.relation);
      execute format('create policy alike_asker on %s for select using (%s)', p.relation, p.condition);
    end if;
    perform alike._grant('select', p.relation, 'alike_reader');
  end loop;
end
$$;

create function alike._protect(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  view_name text;
begin
  perform alike._make_sees(a);
  perform alike._protect_tables(a, array['', '_value', '_part', '_match', '_mark', '_cluster', '_event']);
  -- A view reads as its owner unless it is told not to, which it can be from PostgreSQL 15 on.
  for view_name in select alike._name(a, suffix) from unnest(array['_pair', '_feature']) as suffix where alike._side(a, suffix) is not null loop
    if a.distributed then
      perform alike._grant('select', view_name, 'alike_reader');
    elsif current_setting('server_version_num')::integer >= 150000 then
      execute format('alter view %s set (security_invoker = true)', view_name);
      perform alike._grant('select', view_name, 'alike_reader');
    end if;
  end loop;
end
$$;

-- What is left of it when the aspect is taken away: tables that only their owner reads.
create function alike._unprotect(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  relation regclass;
  sees regprocedure;
begin
  for relation in select alike._side(a, suffix) from unnest(array['', '_match', '_mark', '_cluster', '_event', '_value', '_part']) as suffix where alike._side(a, suffix) is not null loop
    execute format('drop policy if exists alike_asker on %s', relation);
  end loop;
  -- Triggers on the table depend on the function without a key; detach drops it after them.
  for sees in select p.oid from alike._written(a, 'sees') p where p.pronargs > 0 loop
    execute format('drop function %s', sees);
  end loop;
end
$$;

-- Everything that attach has made, in the hands of the owner of the table: after an
-- administrator has attached it for him, and after ALTER TABLE … OWNER TO.
create function alike._own(a alike.attachment) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  owner constant oid := (select relowner from pg_class where oid = a.source);
  object record;
  n bigint := 0;
begin
  for object in
    select format('%s %s', case c.relkind when 'v' then 'view' else 'table' end, c.oid::regclass) as name
    from unnest(array['', '_match', '_mark', '_cluster', '_event', '_value', '_part', '_probe', '_pair', '_feature']) as suffix
    join pg_class c on c.oid = alike._side(a, suffix)
    where c.relowner <> owner
    union all
    select format('table %s', p.part) from alike._parts(a.id, a.side_schema) p join pg_class c on c.oid = p.part where c.relowner <> owner
    union all
    select format('function %s', p.oid::regprocedure)
    from alike._written(a) p
    where p.proowner <> owner
  loop
    execute format('alter %s owner to %s', object.name, owner::regrole);
    n := n + 1;
  end loop;
  return n;
end
$$;

create function alike.own("table" text) returns bigint language sql strict
as $$ select alike._own(alike._attachment("table")) $$;
comment on function alike.own(text) is 'gives the side tables to the owner of the table, after ALTER TABLE … OWNER TO; returns how many things had another';
