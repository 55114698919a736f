-- A profile is changed by building the new side table beside the old one, which
-- answers until the new one is full; then the two change places in one
-- transaction. Verdicts, matches and kept clusters stay. Options that are not
-- given are as they were, but ask goes with the policy that it is for. Another policy
-- or at_least needs nothing built.
create function alike._change(a alike.attachment, options jsonb) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  rows bigint;
  fresh alike.attachment;
  option text;
begin
  foreach option in array array['name', 'key', 'mode', 'distributed', 'where'] loop
    if options ? option then
      raise exception 'alike: change: the option % stays as it is; detach and attach again', option using errcode = 'invalid_parameter_value';
    end if;
  end loop;
  if exists (select from alike.attachment t where t.replaces = a.id) then
    raise exception 'alike: change: % is being changed already', a.name using errcode = 'object_in_use',
      hint = 'select * from alike.status() shows how far it is.';
  end if;
  rows := alike._attach(a.source, a.name, alike._current_document(a),
    a.options - case when coalesce(options ->> 'policy', a.policy) <> 'reject' then 'ask' else '' end - case when options ? 'profile' then 'common' else '' end || options
    || jsonb_build_object('name', a.name, 'key', to_jsonb(alike._current_keys(a))), a.id);
  select * into fresh from alike.attachment t where t.replaces = a.id;
  if not found then
    return rows;
  end if;
  execute format('create function %s() returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as %L',
    alike._generated(fresh, 'switch'), format('begin perform alike._switch(a) from alike.attachment a where a.id = %s; end', fresh.id));
  execute format('revoke all on function %s() from public', alike._generated(fresh, 'switch'));
  perform alike._own(fresh);
  return rows;
end
$$;

create function alike.change("table" text, options jsonb) returns bigint language sql strict
as $$ select alike._change(alike._attachment("table"), options) $$;
comment on function alike.change(text, jsonb) is 'sketches a table under another profile beside the old, and switches when that is done';

-- Has an attachment leave out a list of shingles, which its owner's generated function brings.
create function alike._leave_out(a alike.attachment, shingles bytea) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
begin
  perform alike._change(a, jsonb_build_object('common', coalesce(to_jsonb(alike._keep_boilerplate(shingles)), 'false')));
end
$$;

-- Puts an attachment that is full in the place of the one it replaces.
create function alike._switch(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  old alike.attachment;
begin
  select * into old from alike.attachment t where t.id = a.replaces for update;
  perform alike._await_workers(old), alike._hold_merges(a);
  perform alike._patiently(old, 'change', array[format('select alike._replace(a, old) from alike.attachment a join alike.attachment old on old.id = a.replaces where a.id = %s', a.id)]);
end
$$;

create function alike._replace(a alike.attachment, old alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  index_name name;
begin
  update alike.attachment set replaces = null, name = a.name || ' (next)' where id = a.id;
  perform alike._take_away(old, false);
  execute format('drop view if exists %s, %s, %s, %s', alike._name(old, '_pair'), alike._name(old, '_feature'), alike._name(a, '_pair'), alike._name(a, '_feature'));
  execute format('drop table if exists %s, %s, %s, %s, %s', alike._name(old, ''), alike._name(old, '_value'), alike._name(a, '_match'), alike._name(a, '_mark'), alike._name(a, '_probe'));
  execute format('alter table if exists %s rename to %I', alike._name(a, '_value'), old.side_name || '_value');
  if alike._in_parts(a) then
    execute format('alter sequence %s rename to %I', pg_get_serial_sequence(alike._name(a, '_part'), 'alike_entry'), old.side_name || '_part_alike_entry_seq');
    execute format('alter table %s rename to %I', alike._name(a, '_part'), old.side_name || '_part');
  end if;
  execute format('alter table %s rename to %I', alike._name(a, ''), old.side_name);
  for index_name in
    select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid in (a.side, alike._side(old, '_value'), alike._side(old, '_part')) and starts_with(c.relname, a.side_name) loop
    execute format('alter index %I.%I rename to %I', a.side_schema, index_name, old.side_name || substr(index_name, length(a.side_name) + 1));
  end loop;
  update alike.attachment t set name = old.name, side_name = old.side_name, indexed = true where t.id = a.id returning * into a;
  execute format('drop function if exists %s()', alike._generated(a, 'probe'));
  perform alike._make_tables(a);
  perform alike._make_functions(a);
  if a.mode = 'queue' then
    perform alike._make_enqueue(a);
  end if;
end
$$;

-- Writes the functions of an attachment again after a column, the table or its schema was
-- renamed, and has the worker compare every row: what the functions saw under the old
-- names may be another column's. A key that has another type now has it in the side tables,
-- too.
create function alike._mend(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  types constant text[] := alike._column_types(a.source, alike._current_keys(a));
  others constant name[] := alike._others(a.key_columns);
  suffix text;
begin
  if not alike._renamed(a) then
    return;
  end if;
  update alike.attachment t
  set side_schema = n.nspname, side_name = c.relname, spelled = q.names, numbers_of = a.source,
    numbers = array(select coalesce(p.attnum, 0) from unnest(q.names) with ordinality as u(name, i) left join pg_attribute p on p.attrelid = a.source and p.attname = u.name order by u.i)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace,
    (select array_agg(coalesce(u.today, u.before) order by i) as names from unnest(alike._current(a), a.spelled) with ordinality as u(today, before, i)) q
  where t.id = a.id and c.oid = a.side
  returning t.* into a;
  if types is distinct from alike._column_types(a.side, a.key_columns) then
    perform alike._hold_merges(a);
    perform alike._drop_side_triggers(a, 'parts'); -- their conditions read the key
    perform alike._unprotect(a);
    execute format('drop view %s, %s', alike._name(a, '_pair'), alike._name(a, '_feature'));
    for suffix in select p.part from alike._parts(a.id, a.side_schema) p where p.state <> 'used' loop
      execute format('drop table %s', suffix);
    end loop;
    foreach suffix in array array['', '_match', '_mark', '_cluster', '_event', '_value', '_part'] loop
      continue when alike._side(a, suffix) is null;
      execute format('alter table %s %s', alike._name(a, suffix), (
        select string_agg(format('alter column %I type %s using %1$I::%2$s', c, t), ', ')
        from unnest(a.key_columns || case when suffix in ('_match', '_mark') then others else '{}' end, types || case when suffix in ('_match', '_mark') then types else '{}' end) as u(c, t)));
    end loop;
    perform alike._make_tables(a);
  end if;
  perform alike._make_functions(a);
  perform alike._protect(a);
  perform alike._own(a);
  if a.mode = 'queue' then
    perform alike._make_enqueue(a);
  end if;
  if a.options ? 'ask' then
    perform alike._make_ask_function(a);
  end if;
  delete from alike.chunk where attachment = a.id;
  update alike.backfill set requested_at = now(), split_at = null, finished_at = null, deletions = true where attachment = a.id;
end
$$;
