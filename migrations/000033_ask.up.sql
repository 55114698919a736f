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
  passages bigint[], -- of an attachment with the option contains
  shingles bigint,
  error text,
  asked_by name not null default current_user
);
comment on table alike.request is 'documents that a trigger has asked the worker to sketch, and its answers';

-- The sketch of a document, from a worker. answered is false when none did in
-- time. The connection stays open for the next checkin of the session.
create function alike._ask(a alike.attachment, document bytea, media text, connection text, seconds double precision,
  out answered boolean, out sketch bytea, out passages bigint[], out shingles bigint, out error text)
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
      execute format('select * from %s($1, $2) as r(answered boolean, sketch bytea, passages bigint[], shingles bigint, error text)', dblink) into answered, sketch, passages, shingles, error
      using name, format('select answered_at is not null, sketch, passages, shingles, error from alike.request where id = %s', request);
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
  if alike._by_containment(a) and not a.indexed then
    answer.error := 'the side table is being filled';
  end if;
  if answer.answered and answer.error is null then
    begin
      perform alike._ours(a);
      if alike._by_containment(a) then
        perform alike._gate_values(a, answer.passages, answer.shingles, answer.sketch, itself);
      else
        perform alike._gate(a, answer.sketch, itself, answer.shingles);
      end if;
    exception
      when syntax_error_or_access_rule_violation then -- a table of ours is gone, or is another's
        answer.error := sqlerrm;
    end;
    if answer.error is null then
      return;
    end if;
  end if;
  if otherwise = 'refuse' then
    raise exception 'alike: %: the document could not be judged: %', a.name, coalesce(answer.error, format('no worker answered within %s seconds', seconds))
      using errcode = 'cannot_connect_now';
  end if;
end
$$;

-- The value of a column in the row that a trigger is for. It does not see that of a virtual
-- generated column, but it sees the row in the table.
create function alike._new_value(a alike.attachment, name name) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when t.attgenerated = 'v' then format('(select t.%I from %s t where %s)', name, a.source,
      (select string_agg(format('t.%I = new.%1$I', k), ' and ') from unnest(alike._current_keys(a)) as k))
    else format('new.%I', name) end
  from pg_attribute t where t.attrelid = a.source and t.attname = name
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
  type constant regtype := (select alike._base_type(atttypid) from pg_attribute where attrelid = a.source and attname = document);
begin
  execute format('create or replace function %s() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set row_security = on%s as %L',
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
      'document', format(case type when 'bytea'::regtype then '%s' else 'convert_to(%s, ''UTF8'')' end, alike._document_of(type, alike._new_value(a, document))),
      'media', coalesce((select alike._new_value(a, u.today) || '::text' from unnest(a.columns, alike._current(a)) as u(name, today) where jsonb_typeof(a.extract) = 'object' and u.name = a.extract ->> 'column'), 'null'),
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
  perform alike._patiently(a, 'attach', array(
    -- Who does not see the whole table is not refused because of what he does not see.
    select format('create trigger %I after %s on %s for each row when (%s()%s) execute function %s()', 'alike_' || a.id || '_ask_' || event, event, a.source,
      alike._generated(a, 'sees'), case event when 'update' then ' and old *<> new' else '' end, alike._generated(a, 'ask'))
    from unnest(array['insert', 'update']) as event));
end
$$;

-- Functions that take text ask a worker in the same way. A question holds nothing but what
-- the asker wrote, and its answer is made of that alone: which rows are like a text
-- is looked up here, by the asker, from the sketch that comes back.
create unlogged table alike.question (
  id bigint generated always as identity constraint question_pkey primary key,
  task text not null,
  settings text not null,
  documents text[] not null,
  asked_at timestamptz not null default clock_timestamp(),
  asked_by name not null default current_user,
  answered_at timestamptz,
  answer jsonb,
  error text
);
comment on table alike.question is 'texts that functions have sent to the workers, and the answers';
create index question_waiting on alike.question (id) where answered_at is null;

-- Waits a moment for an answer, takes it and forgets the question.
create function alike._answer(question bigint, seconds double precision, out answered boolean, out answer jsonb, out error text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  deadline constant timestamptz := clock_timestamp() + seconds * interval '1 second';
  pause double precision := 0.0002;
begin
  loop
    select true, q.answer, q.error into answered, answer, error from alike.question q where q.id = question and q.answered_at is not null;
    if answered then
      delete from alike.question q where q.id = question;
      return;
    end if;
    exit when clock_timestamp() > deadline;
    perform pg_sleep(pause);
    pause := least(pause * 1.3, 0.02);
  end loop;
  answered := false;
end
$$;

-- Asks the workers over the foreign server alike_ask, on a connection that stays open for
-- the session, and waits alike.timeout seconds, 10 unless it is set. The pieces of a
-- batch are all sent before the first answer is waited for.
create function alike._question(task text, settings text, documents text[]) returns jsonb[] language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  dblink text;
  name constant text := 'alike questions';
  seconds constant double precision := coalesce(nullif(current_setting('alike.timeout', true), '')::double precision, 10);
  deadline timestamptz;
  open boolean;
  size bigint := 0;
  first integer := 1;
  questions bigint[] := '{}';
  question bigint;
  answers jsonb[] := '{}';
  reply record;
begin
  if documents = '{}' then
    return answers;
  end if;
  select quote_ident(n.nspname) || '.dblink' into dblink from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'dblink';
  if dblink is null or not exists (select from pg_foreign_server where srvname = 'alike_ask') then
    raise exception 'alike: a worker reads texts, and nothing says how to ask one'
      using errcode = 'fdw_unable_to_establish_connection', hint = case when dblink is null then 'create extension dblink; ' else '' end
        || format('create server alike_ask foreign data wrapper dblink_fdw options (host %L, dbname %L); create user mapping for %I server alike_ask options (user %L, password %L);',
          'localhost', current_database(), current_user, 'a member of alike_reader', 'its password');
  end if;
  for n in 1 .. cardinality(documents) loop
    if octet_length(documents[n]) > 67108864 then
      raise exception 'alike: a document of % bytes, want at most 67108864', octet_length(documents[n]) using errcode = 'program_limit_exceeded';
    end if;
  end loop;
  begin
    execute format('select coalesce(%L = any (%s_get_connections()), false)', name, dblink) into open;
    if not open then
      execute format('select %s_connect(%L, ''alike_ask'')', dblink, name);
    end if;
    for n in 1 .. cardinality(documents) loop
      size := size + octet_length(documents[n]);
      -- A piece is for one worker; two documents that are compared stay together.
      if n = cardinality(documents) or task in ('sketch', 'si') and (size >= 4194304 or n - first >= 499) then
        execute format('select id from %s(%L, %L) as r(id bigint, announced text)', dblink, name,
          format('with q as (insert into alike.question (task, settings, documents) values (%L, %L, %L) returning id) select id, pg_notify(''alike'', ''question'')::text from q',
            task, settings, documents[first:n])) into question;
        questions := questions || question;
        first := n + 1;
        size := 0;
      end if;
    end loop;
    foreach question in array questions loop
      deadline := clock_timestamp() + seconds * interval '1 second';
      loop
        -- A moment at a time, in between which this statement can be cancelled.
        execute format('select * from %s(%L, %L) as r(answered boolean, answer jsonb, error text)', dblink, name,
          format('select * from alike._answer(%s, 0.05)', question)) into reply;
        exit when reply.answered or clock_timestamp() > deadline;
      end loop;
      exit when not reply.answered or reply.error is not null;
      answers := answers || reply.answer;
    end loop;
    if not reply.answered or reply.error is not null then
      execute format('select %s_exec(%L, %L)', dblink, name, format('delete from alike.question where id = any (%L)', questions));
    end if;
  exception
    when query_canceled then
      execute format('select %s_disconnect(%L)', dblink, name); -- an answer may be under way
      raise;
    when others then
      if open then -- the connection was lost since it was last used
        execute format('select %s_disconnect(%L)', dblink, name);
        return alike._question(task, settings, documents);
      end if;
      raise exception 'alike: no worker could be asked: %', sqlerrm using errcode = 'fdw_unable_to_establish_connection';
  end;
  if not reply.answered then
    raise exception 'alike: no worker answered within % seconds', seconds using errcode = 'cannot_connect_now',
      hint = 'pgworker run answers; the setting alike.timeout says how long to wait.';
  elsif reply.error is not null then
    raise exception '%', reply.error using errcode = 'invalid_parameter_value';
  end if;
  return answers;
end
$$;

create function alike.sketch(document text, profile text default '') returns bytea language sql stable strict parallel restricted
set search_path = pg_catalog, pg_temp
as $$ select decode((alike._question('sketch', profile, array[document]))[1] ->> 0, 'hex') $$;
comment on function alike.sketch(text, text) is 'the sketch of a text, from a worker';

create function alike.sketches(documents text[], profile text default '') returns bytea[] language sql stable strict parallel restricted
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select decode(s.sketch, 'hex')
    from unnest(alike._question('sketch', profile, array(select coalesce(d, '') from unnest(documents) with ordinality as u(d, n) order by n))) with ordinality as a(answer, piece)
    cross join jsonb_array_elements_text(a.answer) with ordinality as s(sketch, n)
    order by a.piece, s.n)
$$;
comment on function alike.sketches(text[], text) is 'the sketches of texts, in their order, from workers in one batch';

create function alike.si(document text, variant text) returns bigint language sql stable strict parallel restricted
set search_path = pg_catalog, pg_temp
as $$ select ((alike._question('si', variant, array[document]))[1] ->> 0)::bigint $$;
comment on function alike.si(text, text) is 'a similarity index of a text, from a worker';

create function alike.resemblance_exact(a text, b text, profile text default '') returns double precision language sql stable strict parallel restricted
set search_path = pg_catalog, pg_temp
as $$ select ((alike._question('resemblance_exact', profile, array[a, b]))[1] ->> 0)::double precision $$;
comment on function alike.resemblance_exact(text, text, text) is 'the resemblance of two texts, computed without a sample by a worker';

create function alike.containment_exact(a text, b text, profile text default '') returns double precision language sql stable strict parallel restricted
set search_path = pg_catalog, pg_temp
as $$ select ((alike._question('containment_exact', profile, array[a, b]))[1] ->> 0)::double precision $$;
comment on function alike.containment_exact(text, text, text) is 'how much of the first text is in the second, computed without a sample by a worker';

create function alike.tokens(document text, profile text default '') returns table ("position" bigint, token text) language sql stable strict parallel restricted
set search_path = pg_catalog, pg_temp
as $$ select n, t from jsonb_array_elements_text((alike._question('tokens', profile, array[document]))[1]) with ordinality as u(t, n) order by n $$;
comment on function alike.tokens(text, text) is 'the tokens of a text, from a worker';

create function alike.shingles(document text, profile text default '') returns table ("position" bigint, shingle text, fingerprint bigint) language sql stable strict parallel restricted
set search_path = pg_catalog, pg_temp
as $$
  select n, s ->> 0, (s ->> 1)::bigint from jsonb_array_elements((alike._question('shingles', profile, array[document]))[1]) with ordinality as u(s, n) order by n
$$;
comment on function alike.shingles(text, text) is 'the shingles of a text with their fingerprints, from a worker';

create function alike.explain(left_text text, right_text text, profile text default '')
returns table (kind text, passage text, tokens integer, left_position integer, right_position integer) language sql stable strict parallel restricted
set search_path = pg_catalog, pg_temp
as $$
  select s ->> 0, s ->> 1, (s ->> 2)::integer, (s ->> 3)::integer, (s ->> 4)::integer
  from jsonb_array_elements((alike._question('explain', profile, array[left_text, right_text]))[1]) with ordinality as u(s, n) order by n
$$;
comment on function alike.explain(text, text, text) is 'what two texts have in common and what either has alone, the longest passages first, from a worker';

create function alike._rows_like(a alike.attachment, document text, at_least double precision)
returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  wanted constant double precision := alike._limit(a, at_least);
  asked constant jsonb := (alike._question('row', a.id::text, array[document]))[1] -> 0;
begin
  if jsonb_typeof(asked) = 'object' then
    return query select * from alike._similar(alike._asked(a, at_least), array(select f::bigint from jsonb_array_elements_text(asked -> 'features') with ordinality as u(f, n) order by n),
      decode(asked ->> 'sketch', 'hex'), null, wanted, (asked ->> 'shingles')::bigint);
  end if;
end
$$;

create function alike.rows_like("table" text, document text, at_least double precision default 'NaN')
returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision)
language sql stable
as $$
  select * from alike._rows_like(alike._attachment("table"), document, at_least)
  where "table" is not null and document is not null and at_least is not null
$$;
comment on function alike.rows_like(text, text, double precision) is 'the rows that resemble a text that is not in the table, best first; a worker sketches it';

-- The documents of a table travel to a worker in one piece. A table with more text, or whose
-- texts are made of other files, is for the command common of pgworker.
create function alike._common(a alike.attachment, above double precision) returns table (passage text, "rows" bigint, share double precision, shingles integer, key text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  type constant oid := alike._base_type(t.atttypid) from pg_attribute t where t.attrelid = a.source and t.attname = alike._current_document(a);
  bytes bigint;
  keys text[];
  texts text[];
begin
  if not (above > 0 and above <= 1) then
    raise exception 'the share is %, want above 0 and at most 1', above using errcode = 'invalid_parameter_value';
  elsif a.extract <> '"html"' then
    raise exception 'alike: common: the texts of % are extracted from other files; pgworker common % reads them', a.name, a.name using errcode = 'feature_not_supported';
  end if;
  a.mode := 'scan'; -- without the versions of the rows
  execute format('select coalesce(sum(octet_length(d.alike_document)), 0) from (%s) d', alike._rows_of(a)) into bytes;
  if bytes > 67108864 then
    raise exception 'alike: common: the documents of % have % bytes, want at most 67108864; pgworker common % reads them', a.name, bytes, a.name using errcode = 'program_limit_exceeded';
  end if;
  execute format('select array_agg(q.key order by q.n), array_agg(q.document order by q.n) from (select %s as key, %s as document, row_number() over (order by %s) as n from (%s) d) q where q.document is not null',
    alike._key_text(a.key_columns, 'd'), case type when 'bytea'::regtype then 'alike._text_of(d.alike_document)' else 'd.alike_document' end, alike._key_list(a.key_columns, 'd'), alike._rows_of(a))
  into keys, texts;
  if keys is null then
    return;
  end if;
  return query
    select p ->> 0, (p ->> 1)::bigint, (p ->> 2)::double precision, (p ->> 3)::integer, keys[(p ->> 4)::integer + 1]
    from jsonb_array_elements((alike._question('common', jsonb_build_object('attachment', a.id, 'share', above)::text, texts))[1]) with ordinality as u(p, n) order by n;
end
$$;

create function alike.common("table" text, above double precision default 0.1) returns table (passage text, "rows" bigint, share double precision, shingles integer, key text)
language sql stable
as $$ select * from alike._common(alike._attachment("table"), above) where "table" is not null and above is not null $$;
comment on function alike.common(text, double precision) is 'the passages that more than a share of the rows have in common, a tenth unless given; a worker reads the documents';

-- How a sample of a column is read, wanted rows or more of a table that has them; how its
-- rows are counted; and about how many there are, -1 where that is not known or they are few.
-- A sample is whole pages from all over the table.
create function alike._sampling(relation regclass, "column" text, wanted integer, out read text, out count text, out rows bigint) language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  document record;
begin
  document := alike._document_column(relation, "column");
  if (select typcategory from pg_type where oid = document.type) = 'A' then
    raise exception 'alike: advise: the elements of %.% are its shingles: there is no preset to choose, and attach takes the column as it is', relation, document.name
      using errcode = 'datatype_mismatch';
  end if;
  select c.reltuples::bigint into rows from pg_class c where c.oid = relation;
  read := format('select %s from %s%s where %s is not null',
    case when document.type = 'bytea'::regtype then quote_ident(document.name) else format('convert_to(%I::text, ''UTF8'')', document.name) end, relation,
    case when rows > wanted then format(' tablesample system (%s) repeatable (1997)', least(100, 500.0 * wanted / rows)::numeric(10, 6)) else '' end, quote_ident(document.name));
  count := format('select count(*) from %s', relation);
  rows := case when rows > 100000 then rows else -1 end;
end
$$;

create function alike._advice(relation regclass, "table" text, "column" text) returns jsonb language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  sampling record;
  texts text[];
begin
  if relation is null then
    raise exception 'alike: advise: there is no table %', "table" using errcode = 'undefined_table';
  end if;
  sampling := alike._sampling(relation, "column", 1000);
  if sampling.rows < 0 then
    execute sampling.count into sampling.rows;
  end if;
  -- As much as package advise takes: Enough.
  execute format('select coalesce(array_agg(alike._text_of(d)), ''{}'')
    from (select d, row_number() over w as n, sum(octet_length(d)) over w - octet_length(d) as before from (%s) as s(d) window w as (rows unbounded preceding)) r
    where n <= 1000 and (n <= 100 or before < 1048576) and before < 8388608 and alike._text_of(d) is not null', sampling.read) into texts;
  if texts = '{}' then
    texts := '{""}';
  end if;
  return (alike._question('advise', sampling.rows::text, texts))[1];
end
$$;

create function alike.advise("table" text, "column" text)
returns table (preset text, chosen boolean, at_least double precision, expected double precision, recall double precision, pairs integer, edited double precision,
  same double precision, answers integer, candidates double precision, bytes integer, seconds double precision, layout text, settings text, reason text, curve jsonb, "only" jsonb, missed jsonb)
language sql stable strict
as $$
  select a.* from pg_catalog.jsonb_to_recordset(alike._advice(alike._relation("table"), "table", "column")) as a(preset text, chosen boolean, at_least double precision, expected double precision, recall double precision,
    pairs integer, edited double precision, same double precision, answers integer, candidates double precision, bytes integer, seconds double precision, layout text, settings text, reason text,
    curve jsonb, "only" jsonb, missed jsonb)
$$;
comment on function alike.advise(text, text) is 'the presets side by side on a sample of a column, which need not be attached; a worker tries them';
