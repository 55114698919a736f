-- Takes the aspect from a table.

-- Ends what workers do for an attachment. A worker claims rows before it writes to a side
-- table; who waits for its claims holds no lock yet on the table, and so they do not wait
-- for each other. What is queued from then on stays, for a worker to throw away.
create function alike._await_workers(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from alike.backfill b where b.attachment = a.id for update;
  perform alike._hold_merges(a);
  delete from alike.chunk where attachment = a.id;
  delete from alike.queue where attachment = a.id;
end
$$;

-- Removes everything of an attachment but its side tables, and these if they are dropped. The
-- triggers come first: a checkin locks its table before it looks at the verdicts, and who
-- took the locks the other way round would wait for it in a circle.
create function alike._take_away(a alike.attachment, dropped boolean) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = notice
as $$
declare
  object text;
begin
  for object in
    select t.tgname from pg_trigger t
    where t.tgrelid = a.source and t.tgname in (select 'alike_' || a.id || '_' || e from unnest(array['insert', 'update', 'delete', 'truncate', 'ask_insert', 'ask_update']) as e) loop
    execute format('drop trigger %I on %s', object, a.source);
  end loop;
  perform alike._unprotect(a);
  perform alike._drop_side_triggers(a, 'values');
  perform alike._leave_parts(a);
  if dropped then
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
  delete from alike.attachment where id = a.id;
  for object in
    select p.oid::regprocedure from alike._written(a) p loop
    execute format('drop function %s', object);
  end loop;
end
$$;

create function alike._detach(a alike.attachment, options jsonb) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = notice
as $$
declare
  rows bigint := 0;
  option text;
  dropped boolean;
begin
  for option in select jsonb_object_keys(options) loop
    if option <> 'drop' then
      raise exception 'alike: detach: there is no option "%", want drop', left(option, 60) using errcode = 'invalid_parameter_value';
    elsif jsonb_typeof(options -> option) <> 'boolean' then
      raise exception 'alike: detach: the option drop is %, want true or false', left((options -> option)::text, 60) using errcode = 'invalid_parameter_value';
    end if;
  end loop;
  dropped := coalesce((options ->> 'drop')::boolean, false);
  if exists (select from alike.attachment t where t.replaces = a.id) then
    perform alike._detach(t, '{"drop": true}') from alike.attachment t where t.replaces = a.id;
  end if;
  perform alike._await_workers(a);
  if a.distributed then -- Citus drops no function after a count that used several connections
    perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  end if;
  if alike._side(a) is not null then
    execute format('select count(*) from %s', alike._name(a, '')) into rows;
  end if;
  perform alike._patiently(a, 'detach', array[format('select alike._take_away(a, %L) from alike.attachment a where a.id = %s', dropped, a.id)]);
  return rows;
end
$$;

create function alike.detach("table" text, options jsonb default '{}') returns bigint language sql strict
as $$ select alike._detach(alike._attachment_of(alike._relation("table"), "table"), options) $$;
comment on function alike.detach(text, jsonb) is 'takes the aspect away; keeps the side tables unless {"drop": true}; returns their rows';
