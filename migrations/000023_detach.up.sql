-- Takes the aspect from a table.

create function alike._detach(a alike.attachment, options jsonb) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  event text;
  rows bigint := 0;
  option text;
begin
  for option in select jsonb_object_keys(options) loop
    if option <> 'drop' or jsonb_typeof(options -> option) <> 'boolean' then
      raise exception 'alike: detach: option % is %, want {"drop": true} or {"drop": false}', option, options -> option using errcode = 'invalid_parameter_value';
    end if;
  end loop;
  if a.distributed then
    perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  elsif exists (select from pg_class where oid = a.source) then
    foreach event in array array['insert', 'update', 'delete', 'truncate', 'ask_insert', 'ask_update'] loop
      execute format('drop trigger if exists %I on %s', 'alike_' || a.id || '_' || event, a.source);
    end loop;
  end if;
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_enqueue_' || a.id);
  execute format('drop function if exists %I.%I(text[])', a.side_schema, 'alike_forget_' || a.id);
  if exists (select from alike.attachment t where t.replaces = a.id) then
    perform alike._detach(t, '{"drop": true}') from alike.attachment t where t.replaces = a.id;
  end if;
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_switch_' || a.id);
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_ask_' || a.id);
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_build_' || a.id);
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_probe_' || a.id);
  execute format('drop function if exists %I.%I(bigint[], bytea, text, double precision)', a.side_schema, 'alike_similar_' || a.id);
  perform alike._unprotect(a);
  delete from alike.queue where attachment = a.id;
  delete from alike.attachment where id = a.id;
  if alike._side(a) is not null then
    execute format('select count(*) from %I.%I', a.side_schema, a.side_name) into rows;
  end if;
  if coalesce((options ->> 'drop')::boolean, false) then
    execute format('drop view if exists %I.%I, %I.%I', a.side_schema, a.side_name || '_pair', a.side_schema, a.side_name || '_feature');
    execute format('drop table if exists %I.%I, %I.%I, %I.%I, %I.%I, %I.%I', a.side_schema, a.side_name, a.side_schema, a.side_name || '_match', a.side_schema, a.side_name || '_mark',
      a.side_schema, a.side_name || '_cluster', a.side_schema, a.side_name || '_probe');
  end if;
  return rows;
end
$$;

create function alike.detach("table" text, options jsonb default '{}') returns bigint language sql strict
as $$ select alike._detach(alike._attachment("table"), options) $$;
comment on function alike.detach(text, jsonb) is 'takes the aspect away; keeps the side tables unless {"drop": true}; returns their rows';
