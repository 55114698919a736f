-- What an administrator looks at: features that many rows share, rows that failed, and
-- the state of every attachment.

create function alike._hot(a alike.attachment) returns table (slot integer, feature bigint, rows bigint, key text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
set jit = off set enable_hashagg = off
as $$
begin
  return query execute format('with h as materialized (%s), k as materialized (%s)
    select distinct on (h.rows, h.slot, h.feature) h.slot, h.feature, h.rows, k.key from h join k on k.slot = h.slot and k.feature = h.feature order by h.rows desc, h.slot, h.feature, %s',
    (select string_agg(case when alike._in_parts(a)
       then format('(select %s as slot, d.feature, count(*) as rows from (select f%1$s as feature from %s where f%1$s is not null group by f%1$s having count(*) >= 10) d cross join lateral %3$s group by d.feature having count(*) >= 10)', n, alike._name(a, '_part'), alike._rows_with(a, n, 'd.feature', 's'))
       else format('(select %s as slot, f%1$s as feature, count(*) as rows from %s where f%1$s is not null group by f%1$s having count(*) >= 10)', n, alike._side(a)) end, ' union all ' order by n)
     from generate_series(1, a.features) as n),
    (select string_agg(format('(select h.slot, h.feature, %s as key from h cross join lateral %s where h.slot = %s)',
       alike._key_text(a.key_columns, 's'), alike._rows_with(a, n, 'h.feature', 's'), n), ' union all ' order by n)
     from generate_series(1, a.features) as n),
    alike._key_order(a, 'k.key'));
end
$$;

create function alike.hot("table" text) returns table (slot integer, feature bigint, rows bigint, key text)
language sql stable
as $$ select * from alike._hot(alike._attachment("table")) where "table" is not null $$;
comment on function alike.hot(text) is 'features that ten rows or more share, with one of these rows';

create function alike._errors(a alike.attachment) returns table (key text, message text, attempts integer, failed_at timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select e.key, e.message, e.attempts, e.failed_at from alike.error e where e.attachment = a.id order by e.failed_at desc, e.key
$$;

create function alike.errors("table" text) returns table (key text, message text, attempts integer, failed_at timestamptz)
language sql stable
as $$ select * from alike._errors(alike._attachment("table")) where "table" is not null $$;
comment on function alike.errors(text) is 'the rows that failed and why, the newest first';

-- Rows of a table: counted while that is quick, and from the statistics of
-- the last ANALYZE where it is not. counted is a query of its rows. To look at every
-- attachment is to trust no owner: a policy, or a view that has taken the place of the
-- table, would run here as the caller.
create function alike._count(relation regclass, counted text) returns bigint language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  pages bigint;
  rows bigint;
begin
  select sum(pg_relation_size(c.oid)) / 8192, sum(c.reltuples)::bigint into pages, rows
  from pg_class c
  where c.oid = relation or c.relispartition and c.oid in (with recursive part as (
      select inhrelid from pg_inherits where inhparent = relation union all select i.inhrelid from pg_inherits i join part p on i.inhparent = p.inhrelid)
    select inhrelid from part);
  if counted is null or (select relkind from pg_class where oid = relation) not in ('r', 'p') then
    return null;
  elsif pages is null or (pages > 50000 and rows > 0) or row_security_active(relation) then
    return nullif(rows, -1);
  end if;
  execute format('select count(*) from (%s) r', counted) into rows;
  return rows;
exception
  when insufficient_privilege or data_exception then
    return null;
end
$$;

-- What does not reach the queue, or did not: triggers that are disabled, gone, or not
-- fired by replication, tables that have become partitions or were inherited from.
create function alike._unseen(a alike.attachment, rows bigint, sketched bigint) returns text[] language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  notes text[] := '{}';
  found_triggers record;
  child text;
begin
  if a.mode = 'queue' then
    select count(*) filter (where t.tgname !~ '_ask_') as n, count(*) filter (where t.tgenabled in ('D', 'R')) as disabled,
      count(*) filter (where t.tgenabled <> 'A' and t.tgname !~ '_ask_') as not_always, bool_or(t.tgtype & 1 <> 0) as by_row
    into found_triggers
    from pg_trigger t
    where t.tgrelid = a.source and t.tgname in (select 'alike_' || a.id || '_' || e from unnest(array['insert', 'update', 'delete', 'truncate', 'ask_insert', 'ask_update']) as e);
    if found_triggers.n < 4 then
      notes := notes || format('%s of the four triggers of %s are gone: detach and attach again', 4 - found_triggers.n, a.source);
    elsif found_triggers.disabled > 0 then
      notes := notes || format('triggers of %s are disabled, so that changes are not seen: alter table %1$s enable trigger user, then select alike.refresh(%L)', a.source, a.name);
    end if;
    if alike._subscribed(a.source) and (found_triggers.by_row is not true or found_triggers.not_always > 0) then
      notes := notes || format('logical replication writes into %s since it was attached, and is not seen: detach it and attach again', a.source);
    elsif found_triggers.by_row is false and alike._row_by_row(a.source) then
      notes := notes || format('%s has become part of another table, through which changes are not seen: detach it and attach again', a.source);
    end if;
  end if;
  select string_agg(inhrelid::regclass::text, ', ') into child from pg_inherits i join pg_class c on c.oid = i.inhparent where i.inhparent = a.source and c.relkind = 'r';
  if child is not null then
    notes := notes || format('%s inherit from %s; their rows are not attached', child, a.source);
  end if;
  if (select relpersistence from pg_class where oid = a.source) = 'p' and (select relpersistence from pg_class where oid = a.side) = 'u' then
    notes := notes || format('%s is unlogged and %s is not: a crash empties the sketches; alter table %1$s set logged', a.side, a.source);
  end if;
  if (select relpersistence from pg_class where oid = a.source) = 'u' and (select relpersistence from pg_class where oid = a.side) = 'p' then
    notes := notes || format('%s is unlogged and %s is not: after a crash select alike.refresh(%L); alter table %2$s set unlogged makes both empty', a.source, a.side, a.name);
  end if;
  if alike._renamed(a) then
    notes := notes || 'something was renamed: the worker, or alike.refresh, takes the new names over'::text;
  end if;
  return notes;
end
$$;

-- That the rows are of another kind than the few texts that attach has looked at.
create function alike._outgrown(a alike.attachment, rows bigint) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  found record;
begin
  if a.looked < 100 and a.looked < rows and not row_security_active(a.source) then
    select * into found from alike._look_at(a);
    if found.preset <> a.preset and found.looked >= 10 then
      return format('the preset %s suits the rows better than %s, since %s: select alike.change(%L, ''{"profile": "%1$s"}'')', found.preset, a.preset, found.reason, a.name);
    end if;
  end if;
  return null;
exception
  when insufficient_privilege or data_exception then
    return null;
end
$$;

-- How many rows have a damaged sketch; NULL of a table with more than 400 MB, as the stale ones.
create function alike._count_damaged(a alike.attachment) returns bigint language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when (select relpages from pg_class where oid = a.side) <= 50000 then
    alike._count(a.side, format('select from %s s where s.profile = %s and %s', a.side, a.profile_id, alike._damaged(a, 's'))) end;
end
$$;

-- What may hold the worker up.
create function alike._note(a alike.attachment, rows bigint, sketched bigint, pending bigint) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  notes text[] := '{}';
  b record;
  old record;
  connected record;
  damaged bigint;
  planted constant text := alike._planted(a);
  owner constant oid := (select relowner from pg_class where oid = a.source);
begin
  if a.problem is not null then
    notes := notes || a.problem;
  end if;
  damaged := alike._count_damaged(a);
  if damaged > 0 then
    notes := notes || format(case damaged when 1 then 'the sketch of %s row is damaged, and nothing compares with it: select alike.refresh(%L)'
      else 'the sketches of %s rows are damaged, and nothing compares with them: select alike.refresh(%L)' end, damaged, a.name);
  end if;
  select f.rows, f.split_at, (select sum(c.rows) from alike.chunk c where c.attachment = a.id and c.keys is null) as remaining into b
  from alike.backfill f where f.attachment = a.id and f.finished_at is null;
  if not exists (select from pg_class where oid = a.source) then
    notes := notes || format('the table of "%s" was dropped: select alike.detach(%L)', a.name, a.name);
  elsif a.side is null or not exists (select from pg_class where oid = a.side) then
    notes := notes || format('the side table %I.%I is missing: select alike.detach(%L), and attach again', a.side_schema, a.side_name, a.name);
  elsif array_position(alike._current(a), null) > 0 then
    notes := notes || format('the column "%s" of %s was dropped: select alike.detach(%L), or make a column of that name', a.columns[array_position(alike._current(a), null)], (select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = a.source), a.name);
  elsif planted is not null then
    notes := array_remove(notes, planted) || planted;
  else
    notes := notes || alike._unseen(a, rows, sketched) || alike._outgrown(a, rows);
    if b.rows is null and pending = 0 and rows <> sketched and (select sum(pg_relation_size(r)) from unnest(array[a.source, a.side]) as r) < 50000 * 8192::bigint
       and not exists (select from alike.error e where e.attachment = a.id) then
      notes := notes || format('%s rows and %s sketches, and nothing waits: some change was not seen; select alike.refresh(%L)', rows, sketched, a.name);
    end if;
  end if;
  if rows >= 300000 and not alike._in_parts(a) and not a.distributed then
    notes := notes || format('a checkin costs more the more rows there are; if checkins are most of the work, select alike.change(%L, ''{"layout": "parts"}'') keeps them cheap', a.name);
  end if;
  if b.rows is not null then
    notes := notes || case
      when b.split_at is null and b.rows = 0 then 'a worker has yet to compare the rows with their sketches'
      when b.split_at is null then format('%s rows wait to be read', b.rows)
      when b.remaining is null then 'indexes are being made'
      else format('being filled: %s of %s rows remain', least(b.remaining, b.rows), b.rows)
    end;
  end if;
  -- An old snapshot keeps the entries that were taken from the queue, and every
  -- claim has to step over them.
  select s.pid, date_trunc('second', clock_timestamp() - s.xact_start) as age into old
  from pg_stat_activity s
  where s.datname = current_database() and s.pid <> pg_backend_pid() and s.backend_xmin is not null and s.xact_start < clock_timestamp() - interval '1 minute'
  order by s.xact_start
  limit 1;
  if found then
    notes := notes || format('a transaction of process %s has been open for %s and slows the queue down', old.pid, old.age);
  end if;
  if pending > 0 or b.rows > 0 then
    select count(*), coalesce(bool_or(pg_has_role(s.usesysid, owner, 'usage')), false) as member, min(s.usename) as name into connected
    from pg_stat_activity s where s.datname = current_database() and s.application_name = 'alike worker';
    if connected.count = 0 and pending > 0 then
      notes := notes || 'no worker is connected'::text;
    elsif connected.count > 0 and not connected.member then
      notes := notes || format('no worker is a member of %s, who owns the table: grant %1$s to %s', owner::regrole, quote_ident(connected.name));
    end if;
  end if;
  return nullif(array_to_string(notes, '; '), '');
end
$$;

create function alike.status() returns table (
  name text, "table" text, "column" text, profile text, mode text, layout text, policy text, at_least double precision, recall double precision,
  rows bigint, sketched bigint, stale bigint, pending bigint, failed bigint, oldest timestamptz, chosen text, short text, merging text, note text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  a alike.attachment;
begin
  for a in select * from alike.attachment t order by t.name, t.id loop
    name := case when a.replaces is null then a.name else a.name || ' (next)' end;
    "table" := coalesce((select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = a.source), a.source::oid::text);
    "column" := coalesce(alike._current_document(a), a.column_name);
    profile := (select s.profile from alike.settings s where s.id = a.profile_id);
    mode := a.mode;
    layout := case when alike._in_parts(a) then 'parts' else 'columns' end;
    policy := a.policy;
    at_least := a.at_least;
    recall := (select alike._threshold_recall((f.profile).k, (f.profile).s, a.at_least) from (select alike._parse(status.profile) as profile offset 0) f);
    chosen := a.preset || ': ' || a.reason;
    short := nullif(a.options -> 'short', 'null')::text;
    merging := alike._merging(a);
    rows := null;
    sketched := null;
    stale := null;
    pending := null;
    failed := null;
    oldest := null;
    if not alike._owns(a) and not alike._sees_all(a) then
      note := 'policies of the table hide rows from you';
      return next;
      continue;
    end if;
    if a.row_filter is null or alike._foreign_type(a.source, alike._current(a)) is null then
      rows := alike._count(a.source, alike._rows_of(a));
    end if;
    sketched := alike._count(a.side, format('select from %s', a.side));
    if (select relpages from pg_class where oid = a.side) <= 50000 then
      stale := alike._count(a.side, format('select from %s s where s.profile <> %s', a.side, a.profile_id));
    end if;
    select coalesce(sum(q.keys), 0), min(q.queued_at) into pending, oldest
    from (select attachment, queued_at, 1 + coalesce(cardinality(more), 0) as keys from alike.queue
          union all select attachment, queued_at, 1 from alike.extraction) q where q.attachment = a.id;
    failed := (select count(*) from alike.error e where e.attachment = a.id);
    note := alike._note(a, rows, sketched, pending);
    return next;
  end loop;
end
$$;
comment on function alike.status() is 'every attachment: how many rows it has, how many wait, and what may be wrong';

create function alike.version() returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select '0.1.0'::text $$;
comment on function alike.version() is 'the release that the schema is of';
