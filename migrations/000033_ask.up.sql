-- reject for programs that bring no sketch: a trigger asks the worker through
-- dblink, on a connection of its own, since a row that is not committed is
-- invisible to it; the document travels as a value.
set local search_path = pg_catalog, pg_temp;

create table alike.request (
  id bigint generated always as identity constraint request_pkey primary key,
  attachment integer not null constraint request_attachment_fkey references alike.attachment (id) on delete cascade,
  document bytea not null,
  media text,
  asked_at timestamptz not null default clock_timestamp(),
  slow boolean not null default false,
  taken boolean not null default false,
  answered_at timestamptz,
  sketch bytea,
  error text,
  asked_by name not null default current_user
);
comment on table alike.request is 'documents that a trigger has asked the worker to sketch, and its answers';

-- The sketch of a document, from a worker. answered is false when none did in
-- time. The connection stays open for the next checkin of the session.
create function alike._ask(a alike.attachment, document bytea, media text, connection text, seconds double precision,
  out answered boolean, out sketch bytea, out error text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  dblink text;
  name constant text := 'alike ' || md5(connection);
  deadline constant timestamptz := clock_timestamp() + seconds * interval '1 second';
  open boolean;
  request bigint;
  pause double precision := 0.001;
begin
  answered := false;
  select quote_ident(n.nspname) || '.dblink' into dblink
  from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'dblink';
  if dblink is null then
    error := 'the extension dblink is not installed';
    return;
  end if;
  begin
    execute format('select coalesce(%L = any (%s_get_connections()), false)', name, dblink) into open;
    if not open then
      execute format('select %s_connect($1, $2)', dblink) using name, connection;
    end if;
    execute format('select id from %s($1, $2) as r(id bigint)', dblink) into request
    using name, format('insert into alike.request (attachment, document, media) values (%s, %L, %L) returning id', a.id, document, media);
    execute format('select %s_exec($1, $2)', dblink) using name, 'notify alike';
    loop
      -- Asked there, not here: this transaction may see nothing that is new.
      execute format('select * from %s($1, $2) as r(answered boolean, sketch bytea, error text)', dblink) into answered, sketch, error
      using name, format('select answered_at is not null, sketch, error from alike.request where id = %s', request);
      exit when answered or clock_timestamp() > deadline;
      perform pg_sleep(pause);
      pause := least(pause * 1.5, 0.05);
    end loop;
    execute format('select %s_exec($1, $2)', dblink) using name, format('delete from alike.request where id = %s', request);
  exception
    when others then
      answered := false;
      error := sqlerrm;
      begin
        execute format('select %s_disconnect($1)', dblink) using name;
      exception
        when others then
          null; -- it was not open: the next checkin opens it again
      end;
  end;
end
$$;

-- What the trigger does with the answer.
create function alike._judge(attachment integer, document bytea, media text, itself text, connection text, seconds double precision, otherwise text)
returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  a alike.attachment;
  answer record;
begin
  if document is null then
    return;
  end if;
  select * into a from alike.attachment t where t.id = attachment;
  answer := alike._ask(a, document, media, connection, seconds);
  if answer.answered and answer.error is null then
    perform alike._gate(a, answer.sketch, itself);
  elsif otherwise = 'refuse' then
    raise exception 'alike: %: the document could not be judged: %', a.name, coalesce(answer.error, format('no worker answered within %s seconds', seconds))
      using errcode = 'cannot_connect_now';
  end if;
end
$$;

-- alike_ask_N runs as its owner: the connection is his, and roles that write documents
-- have no right in the schema alike. After a column was renamed the document counts as not
-- judged until the worker has had the function written again.
create function alike._make_ask_function(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  ask constant jsonb := a.options -> 'ask';
  document constant name := alike._current_document(a);
  bytes constant boolean := (select alike._base_type(atttypid) = 'bytea'::regtype from pg_attribute where attrelid = a.source and attname = document);
begin
  execute format('create or replace function %s() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp%s as %L',
    alike._generated(a, 'ask'), alike._spelling(a), alike._fill(
$function$
declare
  document bytea;
  media text;
  itself text;
  alike_seed bigint := 0;
begin
  begin
    if tg_op = 'UPDATE' and {state_old} = {state_new} then
      return null;
    end if;
    document := {document};
    media := {media};
    itself := {key};
  exception
    when others then -- a column has another name now
      if {otherwise} = 'refuse' then
        raise exception 'alike: the document of % could not be judged: %', tg_relid::regclass, sqlerrm using errcode = 'cannot_connect_now';
      end if;
      return null;
  end;
  if not {takes_entries} then
    return null;
  elsif coalesce(has_function_privilege(to_regprocedure('alike._judge(integer, bytea, text, text, text, double precision, text)'), 'execute')
      and has_any_column_privilege(to_regclass('alike.admitted'), 'insert'), false) then
    perform alike._judge({id}, document, media, itself, {connection}, {timeout}, {otherwise});
  end if;
  return null;
end
$function$, jsonb_build_object(
      'id', a.id,
      'takes_entries', alike._takes_entries(),
      'state_old', alike._state(a, 'old', 'alike_seed'),
      'state_new', alike._state(a, 'new', 'alike_seed'),
      'document', format(case when bytes then 'new.%I' else 'convert_to(new.%I::text, ''UTF8'')' end, document),
      'media', coalesce((select format('new.%I::text', u.today) from unnest(a.columns, alike._current(a)) as u(name, today) where jsonb_typeof(a.extract) = 'object' and u.name = a.extract ->> 'column'), 'null'),
      'key', alike._key_text(alike._current_keys(a), 'new'),
      'connection', quote_literal(ask ->> 'connection'),
      'timeout', coalesce(ask ->> 'timeout', '2'),
      'otherwise', quote_literal(coalesce(ask ->> 'otherwise', 'accept')))));
  execute format('revoke all on function %s() from public', alike._generated(a, 'ask'));
end
$$;

create function alike._make_ask(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform alike._make_ask_function(a);
  perform alike._patiently(a.source, 'attach', array(
    -- Who does not see the whole table is not refused because of what he does not see.
    select format('create trigger %I after %s on %s for each row when (%s()%s) execute function %s()', 'alike_' || a.id || '_ask_' || event, event, a.source,
      alike._generated(a, 'sees'), case event when 'update' then ' and old *<> new' else '' end, alike._generated(a, 'ask'))
    from unnest(array['insert', 'update']) as event));
end
$$;
