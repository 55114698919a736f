-- alike_enqueue_N is what the triggers call: it appends to the queue, and what a
-- person has said of a row goes with the row, or follows it to its new key, in the
-- same statement. It runs as its owner, so that a role that may write documents needs
-- no right in the schema alike and none on verdicts.
create function alike._make_enqueue(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  others constant name[] := alike._others(keys);
  mark constant text := alike._name(a, '_mark');
  partitioned constant boolean := (select relkind = 'p' from pg_class where oid = a.source);
  -- Where a key is checked at once, each row had found its new key free, and the
  -- changes can be followed one after the other. Where it is checked later, two rows may
  -- have changed places, and nobody can tell whose a verdict is.
  immediate constant boolean := exists (
    select from pg_index i
    where i.indrelid = a.source and i.indisunique and i.indimmediate
      and array(select att.attname from pg_attribute att where att.attrelid = a.source and att.attnum = any (i.indkey::int2[]) order by 1)
        = array(select k from unnest(keys) as k order by 1));
  moved constant text := format(
    'with moved as (delete from %1$s m where %2$s or %3$s returning *)
      insert into %1$s (%4$s, %5$s, verdict, note, marked_at, marked_by)
      select %6$s, %7$s, p.verdict, p.note, p.marked_at, p.marked_by
      from (select %8$s, m.* from moved m) p cross join lateral (select (%9$s) < (%10$s) as less) x;',
    mark, alike._key_equal(keys, 'm', 'old'),
    alike._key_equal(others, 'm', 'old', keys),
    alike._names(keys),
    alike._names(others),
    (select string_agg(format('case when x.less then new.%I else p.p%s end', keys[n], n), ', ' order by n) from generate_subscripts(keys, 1) as n),
    (select string_agg(format('case when x.less then p.p%s else new.%I end', n, keys[n]), ', ' order by n) from generate_subscripts(keys, 1) as n),
    (select string_agg(format('case when %s then m.%I else m.%I end as p%s', alike._key_equal(keys, 'm', 'old'), others[n], keys[n], n), ', ' order by n)
     from generate_subscripts(keys, 1) as n),
    alike._key_list(keys, 'new'),
    (select string_agg('p.p' || n, ', ' order by n) from generate_subscripts(keys, 1) as n));
  forget constant text := format('delete from %s m where %%s or %%s;', mark);
  forget_new constant text := format(forget, alike._key_equal(keys, 'm', 'new'),
    alike._key_equal(others, 'm', 'new', keys));
  forget_old constant text := format(forget, alike._key_equal(keys, 'm', 'old'),
    alike._key_equal(others, 'm', 'old', keys));
begin
  execute format('create or replace function %I.%I() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set datestyle = ''ISO, YMD'' set intervalstyle = ''postgres'' as %L',
    a.side_schema, 'alike_enqueue_' || a.id, format(
$function$
declare
  noted boolean := coalesce(has_schema_privilege(to_regnamespace('alike'), 'usage'), false);
begin
  -- Each of these is planned when it is reached, and needs what the one before has found.
  if noted then
    noted := coalesce(has_any_column_privilege(to_regclass('alike.queue'), 'insert') and has_table_privilege(to_regclass('alike.attachment'), 'select'), false);
  end if;
  if noted then
    noted := exists (select from alike.attachment a where a.id = %2$s and a.source = coalesce(pg_partition_root(tg_relid), tg_relid));
  end if;
  if not noted then
    raise warning 'alike: a checkin of %% was not noted: the table is not attached any more, or the schema alike takes nothing from %%', tg_relid::regclass, current_user
      using hint = 'alike.refresh finds the row when it is attached again; drop function ' || %10$L || ' cascade ends this.';
    return null;
  end if;
  perform set_config('alike.checkin', '%2$s', true); -- for the policy of alike.queue
  if tg_op = 'INSERT' then
    insert into alike.queue (attachment, key) %1$s;
  elsif tg_op = 'UPDATE' then
    insert into alike.queue (attachment, key) values (%2$s, %3$s);
    if %4$s <> %3$s then
      insert into alike.queue (attachment, key) values (%2$s, %4$s);
      if to_regclass(%11$L) is not null then
        if exists (select from %5$s) then
          %6$s
          %7$s
        end if;
      end if;
    end if;
  elsif tg_op = 'DELETE' then
    insert into alike.queue (attachment, key) %8$s;
    if to_regclass(%11$L) is not null then
      if exists (select from %5$s) then
        %9$s
      end if;
    end if;
  else
    insert into alike.queue (attachment) values (%2$s);
    if to_regclass(%11$L) is not null then
      delete from %5$s;
    end if;
  end if;
  perform pg_notify('alike', '%2$s');
  return null;
end
$function$,
    case when partitioned then format('values (%s, %s)', a.id, alike._key_text(keys, 'new'))                                                             -- 1
         else format('select %s, %s from alike_rows as n where %s', a.id, alike._key_text(keys, 'n'), coalesce(a.row_filter, 'true')) end,
    a.id,                                                                                                                                                -- 2
    alike._key_text(keys, 'new'),                                                                                                                        -- 3
    alike._key_text(keys, 'old'),                                                                                                                        -- 4
    mark,                                                                                                                                                -- 5
    forget_new,                                                                                                                                          -- 6
    case when immediate then moved else forget_old end,                                                                                                  -- 7
    case when partitioned then format('values (%s, %s)', a.id, alike._key_text(keys, 'old'))                                                             -- 8
         else format('select %s, %s from alike_rows as n where %s', a.id, alike._key_text(keys, 'n'), coalesce(a.row_filter, 'true')) end,
    -- Planned each time: a plan that was good for one row is not for a million.                                                                            -- 9
    case when partitioned then forget_old
         else format('execute %L; execute %L;',
           format('delete from %s m using alike_rows n where %s', mark, alike._key_equal(keys, 'm', 'n')),
           format('delete from %s m using alike_rows n where %s', mark, alike._key_equal(others, 'm', 'n', keys))) end,
    alike._generated(a, 'enqueue') || '()',                                                                                                              -- 10
    mark));                                                                                                                                              -- 11
  execute format('revoke all on function %I.%I() from public', a.side_schema, 'alike_enqueue_' || a.id);
end
$$;

-- The triggers, as cheap as they could be measured: a statement's inserts at
-- once, updates only where the document, the key or the condition changed.
create function alike._make_triggers(a alike.attachment, document_type text) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  enqueue constant text := alike._generated(a, 'enqueue') || '()';
  partitioned constant boolean := (select relkind = 'p' from pg_class where oid = a.source);
  changed text;
begin
  perform alike._make_enqueue(a);
  -- The types json and xml have no equality.
  select string_agg(case when c = a.column_name and document_type in ('json', 'xml')
      then format('old.%I::text is distinct from new.%I::text', c, c)
      else format('old.%I is distinct from new.%I', c, c) end, ' or ')
  into changed
  from (select distinct unnest(keys || a.column_name || a.filter_columns) as c) as columns;
  if partitioned then
    execute format('create trigger %I after insert on %s for each row execute function %s', 'alike_' || a.id || '_insert', a.source, enqueue);
    execute format('create trigger %I after delete on %s for each row execute function %s', 'alike_' || a.id || '_delete', a.source, enqueue);
  else
    execute format('create trigger %I after insert on %s referencing new table as alike_rows for each statement execute function %s', 'alike_' || a.id || '_insert', a.source, enqueue);
    execute format('create trigger %I after delete on %s referencing old table as alike_rows for each statement execute function %s', 'alike_' || a.id || '_delete', a.source, enqueue);
  end if;
  execute format('create trigger %I after update on %s for each row when (%s) execute function %s', 'alike_' || a.id || '_update', a.source, changed, enqueue);
  execute format('create trigger %I after truncate on %s for each statement execute function %s', 'alike_' || a.id || '_truncate', a.source, enqueue);
end
$$;
