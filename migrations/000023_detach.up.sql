-- Takes the aspect from a table.

create function alike._detach(a alike.attachment, options jsonb) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = notice
as $$
declare
  rows bigint := 0;
  option text;
  object text;
begin
  for option in select jsonb_object_keys(options) loop
    if option <> 'drop' then
      raise exception 'alike: detach: there is no option "%", want drop', left(option, 60) using errcode = 'invalid_parameter_value';
    elsif jsonb_typeof(options -> option) <> 'boolean' then
      raise exception 'alike: detach: the option drop is %, want true or false', left((options -> option)::text, 60) using errcode = 'invalid_parameter_value';
    end if;
  end loop;
  if exists (select from alike.attachment t where t.replaces = a.id) then
    perform alike._detach(t, '{"drop": true}') from alike.attachment t where t.replaces = a.id;
  end if;
  if a.distributed then -- Citus drops no function after a statement that used several connections
    perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  end if;
  -- A worker claims rows before it writes to a side table. A detach that waits for its claims
  -- first holds no lock yet on the table, and so they do not wait for each other.
  perform from alike.backfill b where b.attachment = a.id for update;
  perform alike._hold_merges(a);
  delete from alike.chunk where attachment = a.id;
  delete from alike.queue where attachment = a.id;
  perform alike._unprotect(a);
  perform alike._drop_side_triggers(a, 'values');
  perform alike._leave_parts(a);
  if alike._side(a) is not null then
    execute format('select count(*) from %s', alike._name(a, '')) into rows;
  end if;
  if coalesce((options ->> 'drop')::boolean, false) then
    foreach object in array array['_pair', '_feature'] loop
      if alike._side(a, object) is not null then
        execute format('drop view %s', alike._name(a, object));
      end if;
    end loop;
    foreach object in array array['', '_match', '_mark', '_cluster', '_event', '_value', '_probe'] loop
      if alike._side(a, object) is not null then
        execute format('drop table %s', alike._name(a, object));
      end if;
    end loop;
  end if;
  delete from alike.queue where attachment = a.id; -- what was queued since
  delete from alike.attachment where id = a.id;
  -- The lock that makes readers wait comes last.
  if not a.distributed and exists (select from pg_class where oid = a.source) then
    perform alike._patiently(a.source, 'detach', array(
      select format('drop trigger %I on %s', t.tgname, a.source) from pg_trigger t
      where t.tgrelid = a.source and t.tgname in (select 'alike_' || a.id || '_' || e from unnest(array['insert', 'update', 'delete', 'truncate', 'ask_insert', 'ask_update']) as e)));
  end if;
  for object in
    select p.oid::regprocedure from alike._written(a) p loop
    execute format('drop function %s', object);
  end loop;
  return rows;
end
$$;

create function alike.detach("table" text, options jsonb default '{}') returns bigint language sql strict
as $$ select alike._detach(alike._attachment_of(alike._relation("table"), "table"), options) $$;
comment on function alike.detach(text, jsonb) is 'takes the aspect away; keeps the side tables unless {"drop": true}; returns their rows';
