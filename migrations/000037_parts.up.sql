-- The layout parts. With an index for each feature a checkin writes a random page of each
-- index, so its cost grows with the table. In this layout the side table has no index on its
-- features. The table _part has an entry, the key and the features, of each row that was written lately, and an
-- index for each feature and for the key. It stays small, so the pages that a checkin writes stay in memory.
-- The tables that inherit from it, alike_part_N_1 and so on, hold the older entries and never change.
-- The worker moves entries from _part into a new table, and merges tables of a size into one.
--
-- Each entry has a number, and alike_entry in the side table is the number of the entry that has
-- the row's features. Other entries of the row are out of date, and a move or a merge leaves them out.
-- Every snapshot sees the entry of a row exactly once, so a query needs the number and nothing else.

-- Makes the table of the newest entries, empty and without indexes, and the column of the
-- side table. alike_build_N fills the layout when it makes the indexes of the side table. The sequence
-- belongs to _part, where a TRUNCATE of the side table does not restart it.
create function alike._make_part(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
begin
  if a.distributed then
    raise exception 'alike: attach: the layout parts is not for a table that is distributed among nodes: Citus takes no trigger for each statement on it, and no table that inherits from it'
      using errcode = 'feature_not_supported';
  end if;
  execute format('create %s table %s (alike_entry bigint generated always as identity, %s, %s)', alike._persistence(a), alike._name(a, '_part'),
    alike._column_list(a.key_columns, alike._column_types(alike._side(a), a.key_columns)),
    (select string_agg(format('f%s bigint', n), ', ' order by n) from generate_series(1, a.features) as n));
  execute format('comment on table %s is %L', alike._name(a, '_part'), format('Alike: the newest entries of %s', alike._side(a)));
  -- The rows that an earlier detach has left have the number 0.
  execute format('alter table %s add column alike_entry bigint not null default 0', alike._name(a, ''));
  execute format('alter table %s alter column alike_entry set default nextval(%L)', alike._name(a, ''), alike._entry_sequence(a));
end
$$;

create function alike._entry_sequence(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$ select pg_get_serial_sequence(alike._name(a, '_part'), 'alike_entry') $$;

create function alike._persistence(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$ select case relpersistence when 'u' then 'unlogged' else '' end from pg_class where oid = alike._side(a) $$;

-- The parts of an attachment: the tables that hold older entries. The comment of each says
-- how far it is: filling, indexing, joining and waiting until it is used, then replaced and leaving. While it
-- is not in use yet, sources are the numbers of the parts that it replaces, or 0 for _part.
-- A part that is waiting or leaving waits for the transactions in waits. A dump can leave the
-- comments out, and then a table that inherits is in use. A table of somebody else has no alike_entry.
create function alike._parts(attachment integer, schema name)
returns table (part regclass, number integer, state text, rows bigint, upto bigint, sources integer[], waits text[])
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.oid::regclass, substring(c.relname from '[0-9]+$')::integer,
    coalesce(substring(d.description from 'state=([a-z]+)'), case when i.inherits then 'used' else 'filling' end),
    coalesce(substring(d.description from 'rows=([0-9]{1,18})')::bigint, greatest(c.reltuples, 0)::bigint),
    coalesce(substring(d.description from 'upto=([0-9]{1,18})')::bigint, 0),
    string_to_array(substring(d.description from 'sources=([0-9]{1,9}(,[0-9]{1,9})*)'), ',')::integer[],
    coalesce(string_to_array(substring(d.description from 'waits=([0-9/,]+)'), ','), '{}')
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  left join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0
  cross join lateral (select exists (select from pg_inherits h where h.inhrelid = c.oid) as inherits) i
  where n.nspname = schema and c.relkind = 'r' and c.relname ~ ('^alike_part_' || attachment || '_[0-9]{1,9}$')
    and c.relowner = any ((select alike._makers(a) from alike.attachment a where a.id = _parts.attachment)::oid[])
    and exists (select from pg_attribute f where f.attrelid = c.oid and f.attname = 'alike_entry')
$$;

-- What the comment of a part says.
create function alike._part_comment(state text, rows bigint, upto bigint, sources integer[], waits text[]) returns text language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format('Alike: a part, state=%s rows=%s upto=%s', state, rows, upto)
    || coalesce(' sources=' || array_to_string(sources, ','), '') || coalesce(' waits=' || nullif(array_to_string(waits, ','), ''), '')
$$;

-- The number of entries in _part from which the worker moves them into a new part. With more
-- of them a checkpoint makes the server log more whole pages of their indexes, with fewer of
-- them there are more parts to make.
create function alike._part_rows() returns integer language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select 8000 $$;

-- Fragments for the functions that attach writes for the layout.
create function alike._part_fragments(a alike.attachment) returns jsonb language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select alike._fragments(a) || jsonb_build_object(
    'keys_r', alike._key_list(a.key_columns, 'r'),
    'sequence_literal', quote_literal(alike._entry_sequence(a)),
    'indexed', (select format('array[%s]', string_agg(quote_literal(c), ', ' order by n))
      from (select n, 'f' || n as c from generate_series(1, a.features) as n union all select a.features + 1, alike._names(a.key_columns)) i),
    'persistence', alike._persistence(a),
    'features', f.list,
    'features_r', replace(f.list, 'f', 'r.f'),
    'features_s', replace(f.list, 'f', 's.f'),
    'side_literal', quote_literal(alike._name(a, '')),
    'part_literal', quote_literal(alike._name(a, '_part')),
    'schema_literal', quote_literal(a.side_schema),
    'part_rows', alike._part_rows()::text,
    'copied_literal', quote_literal(format(' (alike_entry, %1$s, %2$s) select p.alike_entry, %3$s, %4$s from ',
      alike._names(a.key_columns), f.list, alike._key_list(a.key_columns, 'p'), replace(f.list, 'f', 'p.f'))),
    'current_literal', quote_literal(format(' p join %s s on %s', alike._name(a, ''), alike._counts(a, 'p', 's'))))
  from (select string_agg('f' || n, ', ' order by n) as list from generate_series(1, a.features) as n) f
$$;

-- The statements of alike_build_N for the layout: one part of all rows that there are, and
-- the indexes of _part, which stays empty. Until they run no row has an entry.
create function alike._build_parts(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select alike._fill($build$
  if not exists (select from pg_index i where i.indrelid = {part_literal}::regclass and i.indisvalid) then
    declare
      name text;
    begin
      lock table {side} in share mode;
      for name in select p.part from alike._parts({id}, {schema_literal}) p loop
        execute format('drop table %s', name);
      end loop;
      for name in
        select distinct i.indexrelid::regclass from pg_index i join pg_attribute c on c.attrelid = i.indrelid and c.attnum = any (i.indkey::int2[])
        where i.indrelid = {side_literal}::regclass and c.attname ~ '^f[0-9]+$' loop
        execute format('drop index %s', name); -- an earlier layout has left it
      end loop;
      truncate {part};
      if exists (select from {side} s where s.sketch is not null) then
        create {persistence} table {first_part} (like {part});
        insert into {first_part} (alike_entry, {keys}, {features}) select s.alike_entry, {keys_s}, {features_s} from {side} s where s.sketch is not null order by {keys_s};
        foreach name in array {indexed} loop
          execute format('create index on %s (%s) with (fillfactor = 100)', {first_part_literal}, name);
        end loop;
        alter table {first_part} inherit {part};
        execute format('comment on table %s is %L', {first_part_literal},
          alike._part_comment('used', (select count(*) from {first_part}), coalesce(pg_sequence_last_value({sequence_literal}), 0), null, null));
        analyze {first_part};
      end if;
      foreach name in array {indexed} loop
        execute format('create index on %s (%s)', {part_literal}, name);
      end loop;
    end;
  end if;$build$, alike._part_fragments(a) || jsonb_build_object(
    'first_part', f.name, 'first_part_literal', quote_literal(f.name)))
  from (
    select format('%I.%I', a.side_schema, 'alike_part_' || a.id || '_' || g.number) as name from generate_series(1, 1000) as g(number)
    where to_regclass(format('%I.%I', a.side_schema, 'alike_part_' || a.id || '_' || g.number)) is null order by g.number limit 1) f
$$;

-- Makes alike_parts_N, the trigger function that gives the number of a new entry to each row of the side
-- table that has other features, and writes the entry, and alike_merge_N.
create function alike._make_part_functions(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  f constant jsonb := alike._part_fragments(a);
  -- What an entry says of a row, and whether there is one.
  changed constant text := (select string_agg(format('(%s, %s, %s.alike_entry, %3$s.sketch is null)', alike._key_list(a.key_columns, v), replace(f ->> 'features', 'f', v || '.f'), v), ' is distinct from ')
    from unnest(array['old', 'new']) as v);
  event text;
begin
  execute format('create or replace function %s() returns trigger language plpgsql set search_path = pg_catalog, pg_temp set jit = off as %L', alike._generated(a, 'parts'), alike._fill($function$
begin
  if tg_level = 'ROW' then
    new.alike_entry := nextval({sequence_literal});
    return new;
  elsif not exists (select from pg_index i where i.indrelid = {part_literal}::regclass) then
    return null; -- alike_build_N makes the first part
  elsif tg_op = 'INSERT' then
    insert into {part} (alike_entry, {keys}, {features}) overriding system value
    select r.alike_entry, {keys_r}, {features_r} from alike_new r where r.sketch is not null;
  else
    insert into {part} (alike_entry, {keys}, {features}) overriding system value
    select r.alike_entry, {keys_r}, {features_r} from alike_new r where r.sketch is not null
    except select r.alike_entry, {keys_r}, {features_r} from alike_old r where r.sketch is not null;
  end if;
  return null;
end
$function$, f));
  execute format('revoke all on function %s() from public', alike._generated(a, 'parts'));
  perform alike._drop_side_triggers(a, 'parts');
  execute format('create trigger alike_parts_number before update on %s for each row when (%s) execute function %s()', alike._name(a, ''), changed, alike._generated(a, 'parts'));
  foreach event in array array['insert', 'update'] loop
    execute format('create trigger %I after %s on %s referencing %s new table as alike_new for each statement execute function %s()', 'alike_parts_' || event, event, alike._name(a, ''),
      case event when 'update' then 'old table as alike_old' else '' end, alike._generated(a, 'parts'));
  end loop;
  execute format('create or replace function %s() returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off as %L',
    alike._generated(a, 'merge'), alike._fill(alike._merge_body(), f));
  execute format('revoke all on function %s() from public', alike._generated(a, 'merge'));
end
$$;

-- The body of alike_merge_N, which does one step of moving and merging: the number of
-- entries that it has copied, and NULL when it finds no work now. A step is a
-- transaction of the worker, so that the server owns all files that a crash leaves: the empty
-- table is there before its entries are, and they are before their indexes. The next step goes on from what the
-- comments of the parts say. It runs as the owner of the table.
--
-- Every snapshot sees an entry in exactly one of the tables that inherit from _part, and every
-- plan reads those tables:
-- - A move makes the part and has it inherit while it is empty. When no transaction is left that holds the
--   lock of a plan made before, one step copies the entries and deletes them in _part.
-- - A merge fills the part while no plan reads it. When no transaction is left whose snapshot does not
--   see those entries, one step has the part inherit and its sources no longer. A plan is of the
--   time before or after: both find the same entries. Sources are dropped when no transaction is left
--   that has them in a plan.
create function alike._merge_body() returns text language sql immutable
set search_path = pg_catalog, pg_temp
as $body$
  select $function$
declare
  parts constant regclass := {part_literal}::regclass;
  few constant integer := {part_rows};
  made record;
  source record;
  replaced integer[];
  waits text[];
  readers text[];
  fresh text;
  last bigint;
  n bigint;
  unfinished integer[];
  indexed constant text[] := {indexed};
begin
  if not pg_try_advisory_xact_lock(hashtext('alike merge'), {id}) or not exists (select from pg_index i where i.indrelid = parts) then
    return null; -- another worker does a step, or alike_build_N has not run
  end if;
  last := coalesce(pg_sequence_last_value({sequence_literal}), 0);
  select coalesce(array_agg(s.number), '{}') into unfinished
  from alike._parts({id}, {schema_literal}) p cross join unnest(p.sources) as s(number) where p.state <> 'used';

  -- A move of the newest entries comes first, and goes on while a merge is under way.
  if 0 <> all (unfinished) then
    select coalesce(max(p.upto), 0) into n from alike._parts({id}, {schema_literal}) p;
    if last - (case when last < n then 0 else n end) >= few and (select count(*) from only {part}) >= few then
      replaced := '{0}';
      n := few;
    end if;
  end if;

  -- Otherwise the smallest part that is unfinished takes a step.
  if replaced is null then
    for made in select * from alike._parts({id}, {schema_literal}) p where p.state <> 'used' order by p.rows, p.number loop
      if made.state = 'filling' then
        if made.sources is null or exists (
            select from unnest(made.sources) as s(number) where s.number <> 0
            and not exists (select from alike._parts({id}, {schema_literal}) p where p.number = s.number and p.state = 'used')) then
          execute format('drop table %s', made.part); -- nothing says any more what it was for
          return 0;
        end if;
        if pg_relation_size(made.part) > 0 then
          execute format('truncate %s', made.part); -- a step before this one was interrupted
        end if;
        execute 'insert into ' || made.part || {copied_literal}
          || (select format('(%s)', string_agg(format('select * from %s', p.part), ' union all ')) from alike._parts({id}, {schema_literal}) p where p.number = any (made.sources))
          || {current_literal};
        get diagnostics n = row_count;
        execute format('comment on table %s is %L', made.part, alike._part_comment('indexing', n, made.upto, made.sources, null));
        return n;

      elsif made.state = 'indexing' then
        select count(*) into n from pg_index i where i.indrelid = made.part;
        for i in n + 1 .. least(cardinality(indexed), n + 1 + 200000 / (made.rows + 1)) loop
          execute format('create index on %s (%s) with (fillfactor = 100)', made.part, indexed[i]);
          n := i;
        end loop;
        if n >= cardinality(indexed) then
          execute format('analyze %s', made.part);
          execute format('comment on table %s is %L', made.part, alike._part_comment('joining', made.rows, made.upto, made.sources, null));
        end if;
        return 0;

      elsif made.state in ('joining', 'replaced') then
        select coalesce(array_agg(distinct l.virtualtransaction), '{}') into waits
        from pg_locks l
        join pg_stat_activity s on s.pid = l.pid
        where s.datname = current_database() and s.usesysid is not null and l.pid <> pg_backend_pid()
          and case when made.sources = '{0}' then l.locktype = 'relation' and l.relation = parts and l.mode = 'AccessShareLock' else l.locktype = 'virtualxid' end;
        execute format('comment on table %s is %L', made.part,
          alike._part_comment(case made.state when 'joining' then 'waiting' else 'leaving' end, made.rows, made.upto, made.sources, waits));
        return 0;
      end if;

      continue when exists (select from pg_locks l where l.locktype = 'virtualxid' and l.virtualxid = any (made.waits));
      -- Who wants to read the sources waits behind the step that takes them out of the plans. It does not
      -- begin while a statement reads them for long.
      readers := array(select distinct l.virtualtransaction from pg_locks l join alike._parts({id}, {schema_literal}) p on p.part = l.relation where p.number = any (made.sources));
      if readers <> '{}' then
        perform pg_sleep(0.1);
        continue when exists (
          select from pg_locks l join alike._parts({id}, {schema_literal}) p on p.part = l.relation where p.number = any (made.sources) and l.virtualtransaction = any (readers));
      end if;
      begin
        n := 0;
        perform set_config('lock_timeout', '100ms', true);
        if made.state = 'leaving' then
          execute format('drop table %s', made.part);
        elsif made.sources = '{0}' then
          execute format('with gone as (delete from only %s returning *) insert into %s', parts, made.part) || {copied_literal} || 'gone' || {current_literal};
          get diagnostics n = row_count;
          for i in 1 .. cardinality(indexed) loop
            execute format('create index on %s (%s) with (fillfactor = 100)', made.part, indexed[i]);
          end loop;
          execute format('analyze %s', made.part);
          execute format('comment on table %s is %L', made.part, alike._part_comment('used', n, last, null, null));
        else
          -- Readers lock the parts in this order, too. What a crash takes back is done again.
          perform set_config('synchronous_commit', 'off', true);
          execute format('alter table %s inherit %s', made.part, parts);
          for source in select p.part, p.rows, p.upto from alike._parts({id}, {schema_literal}) p where p.number = any (made.sources) order by p.part::oid loop
            execute format('alter table %s no inherit %s', source.part, parts);
            execute format('comment on table %s is %L', source.part, alike._part_comment('replaced', source.rows, source.upto, null, null));
          end loop;
          execute format('comment on table %s is %L', made.part, alike._part_comment('used', made.rows, made.upto, null, null));
        end if;
        return n;
      exception
        when lock_not_available then
          null; -- a statement reads it for long
      end;
    end loop;

    -- Three parts of a size become one of the next size.
    select array_agg(q.number), sum(q.rows), max(q.upto) into replaced, n, last
    from (
      select p.number, p.rows, p.upto, dense_rank() over (order by c.size) as rank, count(*) over (partition by c.size) as same
      from alike._parts({id}, {schema_literal}) p
      cross join lateral (select round(log(3, greatest(p.rows, few)::numeric / few)) as size) c
      where p.state = 'used' and p.number <> all (unfinished)
    ) q
    where q.same >= 3
    group by q.rank order by q.rank limit 1;

    -- Where a third of the entries is out of date, all parts become one.
    if replaced is null then
      for attempt in 1 .. 2 loop
        select array_agg(p.number), sum(p.rows), max(p.upto) into replaced, n, last from alike._parts({id}, {schema_literal}) p
        having count(*) = count(*) filter (where p.state = 'used')
          and sum(p.rows) > (select 4 * few + 4 * c.reltuples / 3 from pg_class c where c.oid = {side_literal}::regclass and c.reltuples > 0);
        exit when replaced is null;
        analyze {side};
      end loop;
    end if;
  end if;
  if replaced is null then
    return null;
  end if;
  select format('%I.%I', {schema_literal}, 'alike_part_{id}_' || g.number) into fresh -- others may have taken a name
  from (select coalesce(max(p.number), 0) as newest from alike._parts({id}, {schema_literal}) p) p cross join lateral generate_series(p.newest + 1, p.newest + 1000) as g(number)
  where to_regclass(format('%I.%I', {schema_literal}, 'alike_part_{id}_' || g.number)) is null
  order by g.number limit 1;
  execute format('create {persistence} table %s (like %s)', fresh, parts);
  if replaced = '{0}' then
    execute format('alter table %s inherit %s', fresh, parts);
    execute format('comment on table %s is %L', fresh, alike._part_comment('joining', n, 0, replaced, null));
  else
    execute format('comment on table %s is %L', fresh, alike._part_comment('filling', n, last, replaced, null));
  end if;
  return 0;
end
$function$
$body$;

-- Does one step for the first attachment for which there is one: the number of entries that
-- it has copied, and NULL when there is none. What fails for one attachment does not keep the
-- others from theirs.
create function alike._merge() returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  a alike.attachment;
  copied bigint;
  failure text;
begin
  for a in select * from alike.attachment t where alike._in_parts(t) and alike._owns(t) order by t.id loop
    continue when to_regprocedure(alike._generated(a, 'merge') || '()') is null or alike._planted(a) is not null or alike._side(a) is null;
    begin
      execute format('select %s()', alike._generated(a, 'merge')) into copied;
    exception
      when lock_not_available or query_canceled then
        raise;
      when others then
        failure := coalesce(failure, format('%s: %s', a.name, sqlerrm));
    end;
    if copied is not null then
      return copied;
    end if;
  end loop;
  if failure is not null then
    raise exception 'alike: the parts of %', failure;
  end if;
  return null;
end
$$;

-- A table of newest entries from which so much was moved that it needs a vacuum, or NULL.
-- Autovacuum looks once a minute, in which a busy table gets many times the entries that it is
-- meant to have, and their pages are what each checkpoint makes the server log again. A vacuum
-- that an old transaction elsewhere makes useless comes again after ten seconds.
create function alike._to_vacuum() returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.oid::regclass::text
  from alike.attachment a
  join pg_class c on c.oid = alike._side(a, '_part')
  where alike._in_parts(a) and pg_has_role(c.relowner, 'usage') and pg_stat_get_dead_tuples(c.oid) >= alike._part_rows()
    and coalesce(greatest(pg_stat_get_last_vacuum_time(c.oid), pg_stat_get_last_autovacuum_time(c.oid)) < clock_timestamp() - interval '10 seconds', true)
  order by a.id limit 1
$$;

-- Waits for a step that is under way, and lets none begin until the transaction ends. It comes
-- before the locks on tables, which a step takes after this lock.
create function alike._hold_merges(a alike.attachment) returns void language sql
set search_path = pg_catalog, pg_temp
as $$ select pg_advisory_xact_lock(hashtext('alike merge'), a.id) $$;

-- Drops the parts; _hold_merges comes before.
create function alike._drop_parts(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  name text;
begin
  for name in select p.part from alike._parts(a.id, a.side_schema) p loop
    execute format('drop table %s', name);
  end loop;
  if alike._side(a, '_part') is not null then
    execute format('drop table %s', alike._name(a, '_part'));
  end if;
end
$$;

-- Takes the layout from a side table that stays.
create function alike._leave_parts(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
begin
  if not alike._in_parts(a) then
    return;
  end if;
  perform alike._drop_side_triggers(a, 'parts');
  if alike._side(a) is not null then
    a.options := a.options || '{"layout": "columns"}';
    perform alike._make_view(a, suffix) from unnest(array['_feature', '_pair']) as suffix where alike._side(a, suffix) is not null;
    execute format('alter table %s drop column if exists alike_entry', alike._name(a, ''));
  end if;
  perform alike._drop_parts(a);
end
$$;

-- How far the parts are.
create function alike._merging(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('%s parts', count(*) filter (where p.state = 'used'))
    || coalesce('; ' || string_agg(format('part %s of %s rows: %s', p.number, p.rows, p.state), ', ' order by p.number) filter (where p.state <> 'used'), '')
  from alike._parts(a.id, a.side_schema) p
  where alike._in_parts(a)
  having alike._in_parts(a)
$$;
