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
  rows := alike._attach(a.source, a.name, a.column_name,
    a.options - case when coalesce(options ->> 'policy', a.policy) <> 'reject' then 'ask' else '' end || options
    || jsonb_build_object('name', a.name, 'key', to_jsonb(a.key_columns)), a.id);
  select * into fresh from alike.attachment t where t.replaces = a.id;
  if not found then
    return rows;
  end if;
  execute format('create function %I.%I() returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as %L',
    a.side_schema, 'alike_switch_' || fresh.id, format('begin perform alike._switch(a) from alike.attachment a where a.id = %s; end', fresh.id));
  execute format('revoke all on function %I.%I() from public', a.side_schema, 'alike_switch_' || fresh.id);
  return rows;
end
$$;

create function alike.change("table" text, options jsonb) returns bigint language sql strict
as $$ select alike._change(alike._attachment("table"), options) $$;
comment on function alike.change(text, jsonb) is 'sketches a table under another profile beside the old, and switches when that is done';

-- Puts an attachment that is full in the place of the one it replaces.
create function alike._switch(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  old alike.attachment;
  types text[] := alike._key_types(alike._side(a), a.key_columns);
  index_name name;
begin
  select * into old from alike.attachment t where t.id = a.replaces for update;
  update alike.attachment set replaces = null, name = a.name || ' (next)' where id = a.id;
  perform alike._detach(old, '{}');
  execute format('drop view if exists %I.%I, %I.%I, %I.%I, %I.%I', a.side_schema, old.side_name || '_pair', a.side_schema, old.side_name || '_feature',
    a.side_schema, a.side_name || '_pair', a.side_schema, a.side_name || '_feature');
  execute format('drop table if exists %I.%I, %I.%I, %I.%I, %I.%I', a.side_schema, old.side_name, a.side_schema, a.side_name || '_match', a.side_schema, a.side_name || '_mark',
    a.side_schema, a.side_name || '_probe');
  execute format('alter table %I.%I rename to %I', a.side_schema, a.side_name, old.side_name);
  for index_name in
    select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = alike._side(old) and starts_with(c.relname, a.side_name) loop
    execute format('alter index %I.%I rename to %I', a.side_schema, index_name, old.side_name || substr(index_name, length(a.side_name) + 1));
  end loop;
  update alike.attachment t set name = old.name, side_name = old.side_name, indexed = true where t.id = a.id returning * into a;
  execute format('drop function %I.%I(bigint[], bytea, text, double precision)', a.side_schema, 'alike_similar_' || a.id);
  execute format('drop function %I.%I()', a.side_schema, 'alike_build_' || a.id);
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_probe_' || a.id);
  perform alike._make_tables(a, types);
  perform alike._make_builder(a);
  perform alike._make_similar(a);
  perform alike._make_forget(a);
  if a.mode = 'queue' then
    perform alike._make_enqueue(a);
  end if;
end
$$;
