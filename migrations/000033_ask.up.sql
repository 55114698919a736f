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

-- alike_ask_N runs as its owner: the connection is his, and roles that write documents have no right in the schema alike.
create function alike._make_ask(a alike.attachment, document_type text) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  ask constant jsonb := a.options -> 'ask';
  trigger_function constant text := alike._generated(a, 'ask') || '()';
begin
  execute format('create function %s returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set datestyle = ''ISO, YMD'' set intervalstyle = ''postgres'' as %L', trigger_function, format(
$function$
begin
  if coalesce(has_schema_privilege(to_regnamespace('alike'), 'usage'), false) then
    if coalesce(has_function_privilege(to_regprocedure('alike._judge(integer, bytea, text, text, text, double precision, text)'), 'execute')
      and has_any_column_privilege(to_regclass('alike.admitted'), 'insert'), false) then
      perform alike._judge(%s, %s, %s, %s, %L, %s, %L);
    end if;
  end if;
  return null;
end
$function$,
    a.id,
    case when document_type = 'bytea' then format('new.%I', a.column_name) else format('convert_to(new.%I::text, ''UTF8'')', a.column_name) end,
    case when jsonb_typeof(a.extract) = 'object' then format('new.%I::text', a.extract ->> 'column') else 'null' end,
    alike._key_text(a.key_columns, 'new'),
    ask ->> 'connection', coalesce((ask ->> 'timeout')::double precision, 2), coalesce(ask ->> 'otherwise', 'accept')));
  execute format('revoke all on function %s from public', trigger_function);
  -- Who does not see the whole table is not refused because of what he does not see.
  execute format('create trigger %I after insert on %s for each row when (%s()) execute function %s', 'alike_' || a.id || '_ask_insert', a.source, alike._generated(a, 'sees'), trigger_function);
  execute format('create trigger %I after update on %s for each row when (%s() and %s) execute function %s', 'alike_' || a.id || '_ask_update', a.source, alike._generated(a, 'sees'),
    case when document_type in ('json', 'xml') then format('old.%I::text is distinct from new.%I::text', a.column_name, a.column_name)
         else format('old.%I is distinct from new.%I', a.column_name, a.column_name) end, trigger_function);
end
$$;
