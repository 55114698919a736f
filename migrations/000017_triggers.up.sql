-- The triggers of a table, and alike_enqueue_N, which they call: it queues the rows
-- that a statement changed, and what a person has said of a row goes with the row, or
-- follows it to its new key, in the same statement. It runs as its owner, so that
-- a role that may write documents needs no right in the schema alike and none on verdicts.
--
-- No write of the application fails because of it. It looks first whether the schema
-- alike is there and takes entries, and whether the columns still have the names that
-- it was written with; after a rename it uses the names of today. It announces nothing:
-- a transaction that has executed NOTIFY cannot be prepared.

-- A number that is another one when the bytes of the document, of what says its type or
-- of a column of the condition are, for the row r. Bytes, since what PostgreSQL takes
-- for equal (1.0 and 1.000 in jsonb, or letters that a collation does not tell apart)
-- need not have the same shingles. Nobody can make two documents with the same number:
-- the seed is drawn for each statement. Triggers do not see the value of a virtual generated
-- column: the whole row takes its place.
create function alike._state(a alike.attachment, r text, seed text) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(string_agg(case
      when t.attgenerated = 'v' then format('hashtextextended(row(%s.*)::text collate "C", %s + %s)', r, seed, u.n)
      when alike._base_type(t.atttypid) = 'bytea'::regtype then format('coalesce((''x'' || encode(substr(sha256(%s.%I), 1, 8), ''hex''))::bit(64)::bigint, 0)', r, t.attname)
      else format('coalesce(hashtextextended(%s.%I::text collate "C", %s + %s), 0)', r, t.attname, seed, u.n) end, ' # ' order by u.n), '0')
  from unnest(a.columns, alike._current(a)) with ordinality as u(c, current, n)
  join pg_attribute t on t.attrelid = a.source and t.attname = u.current
  where u.c = a.column_name or u.c = any (a.filter_columns)
$$;

-- Whether the condition of the attachment holds for the row r.
create function alike._wanted(a alike.attachment, r text) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$ select case when a.row_filter is null then 'true' else format('coalesce((select %s from (select %s) w), false)', a.row_filter, alike._columns_of(a, r)) end $$;

-- The rows that a statement changed, out of its transition tables: key, and for an
-- update the key that the row had before, NULL where it is the same. Both tables have
-- their rows in the order in which they were updated.
create function alike._changed(a alike.attachment, event text, seed text) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  one constant text := format('select row_number() over () as n, %s as key, %%s as state, %s as wanted from %%s r',
    replace(alike._key_text(alike._current_keys(a), 'r'), '%', '%%'), replace(alike._wanted(a, 'r'), '%', '%%'));
begin
  return case event
    when 'INSERT' then format('select x.key, null::text as old_key from (%s) x where x.wanted', format(one, '0', 'alike_new'))
    when 'DELETE' then format('select x.key, null::text as old_key from (%s) x where x.wanted', format(one, '0', 'alike_old'))
    when 'UPDATE' then format(
      'select x.key, nullif(y.key, x.key) as old_key from (%s) x join (%s) y on y.n = x.n where (x.wanted or y.wanted) and (x.key <> y.key or x.state <> y.state)',
      format(one, alike._state(a, 'r', seed), 'alike_new'), format(one, alike._state(a, 'r', seed), 'alike_old'))
  end;
end
$$;

-- Queues what a statement changed, fifty keys an entry.
create function alike._queue_changed(a alike.attachment, event text, seed text) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('insert into alike.queue (attachment, key, more)
    select %s, q.keys[1], q.keys[2:] || q.old_keys
    from (select array_agg(c.key) as keys, array_agg(c.old_key) filter (where c.old_key is not null) as old_keys
          from (select x.*, (row_number() over () - 1) / 50 as entry from (%s) x) c group by c.entry) q', a.id, alike._changed(a, event, seed))
$$;

-- Takes the verdicts on rows with the rows: to their new keys, or away when the rows
-- were deleted. A verdict that is left over from an earlier row of a key goes, too, and so
-- does one on a row that has stopped to meet the condition.
-- changed is a query of what was changed: key, old_key.
create function alike._follow(a alike.attachment, event text, changed text) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select alike._fill(case event
    when 'DELETE' then 'with gone as materialized (select {new_typed} from ({changed}) x)
      delete from {mark} m where ({keys_m}) in (select {new} from gone) or ({others_m}) in (select {new} from gone)'
    when 'UPDATE' then 'with moved as materialized (select {new_typed}, {old_typed} from ({changed}) x where old_key is not null),
        taken as (
          delete from {mark} m
          where ({keys_m}) in (select {old} from moved union all select {new} from moved) or ({others_m}) in (select {old} from moved union all select {new} from moved)
          returning {x_m}, {y_m}, verdict, note, marked_at, marked_by),
        followed as (
          select {x_followed}, {y_followed}, t.verdict, t.note, t.marked_at, t.marked_by
          from taken t left join moved mx on ({old_mx}) = ({x_t}) left join moved my on ({old_my}) = ({y_t})
          where (mx.new1 is not null or ({x_t}) not in (select {new} from moved)) and (my.new1 is not null or ({y_t}) not in (select {new} from moved))
          order by 1) -- all of them are taken before the first is put back
      insert into {mark} ({keys}, {others}, verdict, note, marked_at, marked_by)
      select {lesser}, {greater}, t.verdict, t.note, t.marked_at, t.marked_by
      from (select p.*, ({x_p}) < ({y_p}) as in_order from followed p) t
      on conflict do nothing'
  end, alike._fragments(a) || (
    select jsonb_build_object('changed', changed,
      'new_typed', string_agg(format('%s as new%s', (alike._key_values(a.key_columns, k.types, 'x.key'))[n], n), ', ' order by n),
      'old_typed', string_agg(format('%s as old%s', (alike._key_values(a.key_columns, k.types, 'x.old_key'))[n], n), ', ' order by n),
      'x_m', string_agg(format('m.%I as x%s', a.key_columns[n], n), ', ' order by n),
      'y_m', string_agg(format('m.%I as y%s', alike._other(a.key_columns, n), n), ', ' order by n))
    from (select alike._key_types(alike._side(a), a.key_columns) as types) k, generate_subscripts(a.key_columns, 1) as n)
  || (
    select jsonb_object_agg(f.name, f.list)
    from (
      select u.name, string_agg(format(u.piece, n), ', ' order by n) as list
      from generate_subscripts(a.key_columns, 1) as n, (values
        ('new', 'new%s'), ('old', 'old%s'), ('old_mx', 'mx.old%s'), ('old_my', 'my.old%s'), ('x_t', 't.x%s'), ('y_t', 't.y%s'), ('x_p', 'p.x%s'), ('y_p', 'p.y%s'),
        ('x_followed', 'coalesce(mx.new%1$s, t.x%1$s) as x%1$s'), ('y_followed', 'coalesce(my.new%1$s, t.y%1$s) as y%1$s'),
        ('lesser', 'case when t.in_order then t.x%1$s else t.y%1$s end'), ('greater', 'case when t.in_order then t.y%1$s else t.x%1$s end')) as u(name, piece)
      group by u.name) f))
$$;

-- Whether logical replication writes into the table.
create function alike._subscribed(relation regclass) returns boolean language sql stable
set search_path = pg_catalog, pg_temp
as $$ select exists (select from pg_subscription_rel where srrelid = relation) $$;

-- Whether rows of the table change without a statement on it: by one on what it is a partition
-- of, or inherits from, or by logical replication. No statement's trigger sees those.
create function alike._row_by_row(relation regclass) returns boolean language sql stable
set search_path = pg_catalog, pg_temp
as $$ select relkind = 'p' or exists (select from pg_inherits where inhrelid = relation) or alike._subscribed(relation) from pg_class where oid = relation $$;

-- Whether a statement gave some row another key. It compares bytes, in a fraction of the time
-- that spelling the keys takes.
create function alike._moved(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('exists (select from (select row_number() over () as n, row(%1$s) as key from alike_new r) x
      join (select row_number() over () as n, row(%1$s) as key from alike_old r) y on y.n = x.n where x.key *<> y.key)', alike._key_list(alike._current_keys(a), 'r'))
$$;

-- Whether a statement changed a large part of the table, by its transition table. Then to
-- spell every key takes longer than to read the table's pages once, which the worker does.
create function alike._large(transition text) returns text language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format('exists (select from %1$s offset 1000) and exists (select from %1$s offset (select greatest(c.relpages / 10, 0) from pg_class c where c.oid = tg_relid))', transition)
$$;

-- What every trigger function looks at before it does anything.
create function alike._takes_entries() returns text language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select $test$(coalesce(has_schema_privilege(to_regnamespace('alike'), 'usage'), false) and coalesce((select bool_and(has_column_privilege(to_regclass('alike.queue'), c, 'insert')) from unnest(array['attachment', 'key', 'more', 'file']) as c), false))$test$::text $$;

-- Whether the verdicts are there. A table that another role has made under their name is not theirs.
create function alike._keeps_verdicts(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$ select format('exists (select from pg_class c where c.oid = to_regclass(%L) and c.relowner = quote_ident(current_user)::regrole)', alike._name(a, '_mark')) $$;

-- What a trigger function does when it cannot write the verdicts, which their owner may have changed.
create function alike._not_followed() returns text language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select $caught$    exception
      when serialization_failure or deadlock_detected then
        raise;
      when others then
        raise warning 'alike: the verdicts on rows of % were not kept up to date: %', tg_relid::regclass, sqlerrm;$caught$::text $$;

-- The function for statements. A condition may fail on some row; only where there is
-- one the entries are written in a block that catches it, and then without it.
create function alike._enqueue_statement(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select alike._fill($function$
#variable_conflict use_variable
declare
  alike_seed bigint := random() * 1e18;
  alike_names name[];
  alike_marked boolean := false;
  alike_moved boolean := false; -- there are verdicts, and rows with other keys
begin
  if not ({takes_entries} and coalesce(has_table_privilege(to_regclass('alike.attachment'), 'select'), false)) then
    raise warning 'alike: a checkin of % was not noted: the table is not attached any more, or the schema alike takes nothing from %', tg_relid::regclass, current_user
      using hint = 'alike.refresh finds the row when it is attached again; drop function ' || {enqueue_literal} || ' cascade ends this.';
    return null;
  end if;
  select array_agg(t.attname order by t.attnum) into alike_names
  from alike.attachment a join pg_attribute t on t.attrelid = a.source and t.attnum = any (a.numbers) where a.id = {id} and a.source = tg_relid;
  if alike_names is null then
    raise warning 'alike: a checkin of % was not noted: the table is not attached any more, or the schema alike takes nothing from %', tg_relid::regclass, current_user
      using hint = 'alike.refresh finds the row when it is attached again; drop function ' || {enqueue_literal} || ' cascade ends this.';
    return null;
  end if;
  if {keeps_verdicts} then -- what follows is planned when it is reached
    begin
      alike_marked := exists (select from {mark});
    exception
      when undefined_table then null; -- somebody drops it just then
    end;
  end if;
  if alike_marked and tg_op = 'UPDATE' and alike_names is not distinct from {names} then
    alike_moved := {moved};
  end if;
  perform set_config('alike.checkin', '{id}', true); -- for the policy of alike.queue
  if tg_op = 'TRUNCATE' then
    insert into alike.queue (attachment) values ({id});
  elsif alike_names is distinct from {names} and not has_function_privilege('alike._queue_changed(alike.attachment, text, text)', 'execute') then
    return null; -- the worker, who learns of the new names, will compare every row
  elsif alike_names is distinct from {names} then
    begin
      execute alike._queue_changed(t, tg_op, alike_seed::text) from alike.attachment t where t.id = {id};
    exception
      when serialization_failure or deadlock_detected then
        raise;
      when others then null; -- a column of the key is gone, as status says
    end;
{cases}
  end if;
  if alike_marked then
    begin
      if tg_op = 'TRUNCATE' then
        delete from {mark};
      elsif tg_op <> 'INSERT' and alike_names is distinct from {names} then
        execute alike._follow(t, tg_op, alike._changed(alike._unfiltered(t), tg_op, '0')) from alike.attachment t where t.id = {id};
      elsif tg_op = 'DELETE' then
        execute {follow_delete};
      elsif tg_op = 'UPDATE' and alike_moved then
        execute {follow_update};
      end if;
{not_followed}
    end;
  end if;
  return null;
end
$function$, alike._fragments(a) || jsonb_build_object(
    'takes_entries', alike._takes_entries(),
    'enqueue_literal', quote_literal(alike._generated(a, 'enqueue') || '()'),
    'keeps_verdicts', alike._keeps_verdicts(a),
    'not_followed', alike._not_followed(),
    'names', (select quote_literal(array_agg(t.attname order by t.attnum)::text) || '::name[]' from pg_attribute t where t.attrelid = a.source and t.attnum = any (a.numbers)),
    'follow_delete', quote_literal(alike._follow(a, 'DELETE', alike._changed(alike._unfiltered(a), 'DELETE', '0'))),
    'follow_update', quote_literal(alike._follow(a, 'UPDATE', alike._changed(alike._unfiltered(a), 'UPDATE', '0'))),
    'moved', alike._moved(a),
    -- Verdicts have to follow their rows, one by one.
    'cases', (
      select string_agg(format(E'  elsif tg_op = %1$L then\n    if %2$s then\n      %3$s;\n    else\n      %4$s;\n    end if;', e,
          case e when 'INSERT' then '' when 'UPDATE' then 'not alike_moved and ' else 'not alike_marked and ' end || alike._large(case e when 'DELETE' then 'alike_old' else 'alike_new' end),
          case e when 'DELETE' then format('insert into alike.queue (attachment) values (%s)', a.id)
            else format('insert into alike.queue (attachment, file) values (%s, pg_relation_filepath(tg_relid))', a.id) end,
          case when a.row_filter is null then alike._queue_changed(a, e, 'alike_seed')
            else format(E'begin\n      %s;\n      exception when others then\n      %s;\n      end', alike._queue_changed(a, e, 'alike_seed'), alike._queue_changed(unfiltered, e, 'alike_seed'))
          end), E'\n' order by e)
      from unnest(array['INSERT', 'UPDATE', 'DELETE']) as e, alike._unfiltered(a) as unfiltered)))
$$;

-- The function for rows one by one, where a look at the names would take longer than
-- the rest. What may fail is in a block that writes nothing.
create function alike._enqueue_row(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select alike._fill($function$
declare
  key text;
  old_key text;
  changed boolean := true;
  alike_seed bigint := random() * 1e18;
  checked text := '{id} ' || statement_timestamp()::text;
  taken boolean;
begin
  -- What is looked at here holds until the client sends its next statement.
  if current_setting('alike.checked', true) is distinct from checked or current_setting('alike.checkin', true) is distinct from '{id}' then
    taken := {takes_entries};
    if taken then
      taken := has_table_privilege('alike.attachment', 'select');
    end if;
    if taken then
      taken := exists (select from alike.attachment a where a.id = {id} and (a.source = tg_relid or a.source in (select relid from pg_partition_ancestors(tg_relid))));
    end if;
    if not taken then
      raise warning 'alike: a checkin of % was not noted: the table is not attached any more, or the schema alike takes nothing from %', tg_relid::regclass, current_user
        using hint = 'alike.refresh finds the row when it is attached again; drop function ' || {enqueue_literal} || ' cascade ends this.';
      return null;
    end if;
    perform set_config('alike.checkin', '{id}', true), -- for the policy of alike.queue
      set_config('alike.checked', checked, true);
  end if;
  if tg_op = 'TRUNCATE' then
    insert into alike.queue (attachment) values ({id});
    if {keeps_verdicts} then
      begin
        delete from {mark};
{not_followed}
      end;
    end if;
    return null;
  end if;
  begin
    if tg_op <> 'DELETE' then
      key := {key_new};
    end if;
    if tg_op <> 'INSERT' then
      old_key := {key_old};
    end if;
    if tg_op = 'UPDATE' then
      changed := key <> old_key or {state_new} <> {state_old};
    end if;
  exception
    when others then -- a column has another name now; the worker, who learns of it, will compare every row
      if not has_function_privilege('alike._key_of(alike.attachment, jsonb)', 'execute') then
        return null;
      end if;
      select n.key into key from alike.attachment t cross join lateral alike._key_of(t, to_jsonb(new)) n(key) where t.id = {id} and tg_op <> 'DELETE';
      select n.key into old_key from alike.attachment t cross join lateral alike._key_of(t, to_jsonb(old)) n(key) where t.id = {id} and tg_op <> 'INSERT';
  end;
  if not changed or coalesce(key, old_key) is null then
    return null;
  end if;
  insert into alike.queue (attachment, key, more)
  values ({id}, coalesce(key, old_key), case when key <> old_key then array[old_key] end);
  if old_key is null or key is not distinct from old_key or not {keeps_verdicts} then
    return null;
  end if;
  if exists (select from {mark}) then
    begin
      if {moves} and key is not null then
        execute {follow_update} using key, old_key;
      else
        delete from {mark} m
        where ({keys_m}) in (select {values} from unnest(array[key, old_key]) as k(key) where k.key is not null)
          or ({others_m}) in (select {values} from unnest(array[key, old_key]) as k(key) where k.key is not null);
      end if;
{not_followed}
    end;
  end if;
  return null;
end
$function$, alike._fragments(a) || jsonb_build_object(
    'takes_entries', alike._takes_entries(),
    'enqueue_literal', quote_literal(alike._generated(a, 'enqueue') || '()'),
    'keeps_verdicts', alike._keeps_verdicts(a),
    'not_followed', alike._not_followed(),
    'follow_update', quote_literal(alike._follow(a, 'UPDATE', 'select $1 as key, $2 as old_key')),
    -- Where a key is checked at once, each row has found its new key free, and the changes
    -- can be followed one after the other. Where PostgreSQL checks it later, two rows may swap
    -- keys, and the trigger cannot tell which row a verdict belongs to: it drops the verdict.
    'moves', exists (
      select from pg_index i
      where i.indrelid = a.source and i.indisunique and i.indimmediate
        and array(select t.attname from pg_attribute t where t.attrelid = a.source and t.attnum = any (i.indkey::int2[]) order by 1)
          = array(select k from unnest(alike._current_keys(a)) as k order by 1)),
    'key_new', alike._key_text(alike._current_keys(a), 'new'),
    'key_old', alike._key_text(alike._current_keys(a), 'old'),
    'state_new', alike._state(a, 'new', 'alike_seed'),
    'state_old', alike._state(a, 'old', 'alike_seed')))
$$;

-- The key of a row that is given as JSON, by the names of today; NULL when a column of it is gone.
create function alike._key_of(a alike.attachment, given jsonb) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  keys constant name[] := alike._current_keys(a);
  types constant text[] := alike._column_types(a.source, keys);
  result text;
begin
  if array_position(keys, null) is not null then
    return null;
  end if;
  execute format('select %s from (select %s) r', alike._key_text(keys, 'r'),
    (select string_agg(format('($1 ->> %L)::%s as %I', k, types[n], k), ', ') from unnest(keys) with ordinality as u(k, n))) into result using given;
  return result;
end
$$;

create function alike._make_enqueue(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  enqueue constant text := alike._generated(a, 'enqueue') || '()';
begin
  -- A plan is kept that was made for a statement that changed one row. Of ten thousand a
  -- nested loop would compare each old row with each new one. A session that loads a dump has
  -- turned row_security off, under which the policies of the schema alike would be an error.
  execute format('create or replace function %s returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set row_security = on%s%s as %L', enqueue,
    case when alike._row_by_row(a.source) then '' else ' set jit = off set enable_nestloop = off' end, alike._spelling(a),
    case when alike._row_by_row(a.source) then alike._enqueue_row(a) else alike._enqueue_statement(a) end);
  execute format('revoke all on function %s from public', enqueue);
end
$$;

-- No trigger names a column: such a trigger would stand in the way of ALTER COLUMN TYPE
-- and DROP COLUMN. The locks that triggers take come last.
create function alike._make_triggers(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  by_row constant boolean := alike._row_by_row(a.source);
begin
  perform alike._make_enqueue(a);
  perform alike._patiently(a, 'attach', array(
    select format('create trigger %I after %s on %s %s execute function %s()', 'alike_' || a.id || '_' || event, event, a.source,
      case when by_row then 'for each row' || case event when 'update' then ' when (old *<> new)' else '' end
           else 'referencing' || case when event in ('update', 'delete') then ' old table as alike_old' else '' end
             || case when event in ('insert', 'update') then ' new table as alike_new' else '' end || ' for each statement' end,
      alike._generated(a, 'enqueue'))
    from unnest(array['insert', 'update', 'delete']) as event
    union all
    select format('create trigger %I after truncate on %s for each statement execute function %s()', 'alike_' || a.id || '_truncate', a.source, alike._generated(a, 'enqueue'))
    union all -- replication fires no other triggers
    select format('alter table %s enable always trigger %I', a.source, 'alike_' || a.id || '_' || event) from unnest(array['insert', 'update', 'delete', 'truncate']) as event
    where alike._subscribed(a.source)));
end
$$;
