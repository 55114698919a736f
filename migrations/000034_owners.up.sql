-- An attachment belongs to the current owner of its table. He and the members of his
-- role change it; who may read the key and the document asks
-- about it; a worker works for the owners that it is a member of. The tables of this
-- schema show and take rows accordingly, so that no function has to be trusted with it.
set local search_path = pg_catalog, pg_temp;

-- Whether the caller is the owner. A table that was dropped leaves its side table's
-- owner, or who attached it.
create function alike._owns(a alike.attachment) returns boolean language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(pg_has_role(coalesce(
    (select relowner from pg_class where oid = a.source),
    (select c.relowner from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = a.side_schema and c.relname = a.side_name),
    (select oid from pg_roles where rolname = a.attached_by)), 'usage'), false);
end
$$;

-- Whether the caller owns the side table: after ALTER TABLE … OWNER TO the triggers still
-- run as the owner before, until alike.own. (to_regclass fails for who may not use the schema.)
create function alike._keeps(a alike.attachment) returns boolean language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce((select pg_has_role(c.relowner, 'usage')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = a.side_schema and c.relname = a.side_name), false);
end
$$;

-- Whether the caller may read the key and the document of the table.
create function alike._reads(a alike.attachment) returns boolean language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  wanted constant integer := cardinality(a.key_columns) + 1;
begin
  if not coalesce((select has_schema_privilege(relnamespace, 'usage') from pg_class where oid = a.source), false) then
    return false;
  end if;
  return has_table_privilege(a.source, 'select') or wanted = (
    select count(*) from pg_attribute t
    where t.attrelid = a.source and not t.attisdropped and has_column_privilege(a.source, t.attnum, 'select')
      and case when a.numbers_of = a.source::oid then t.attnum = any (a.numbers[1:wanted]) else t.attname = any (a.spelled[1:wanted]) end);
end
$$;

-- Whether the caller sees all of it: no policy of the table hides a row from him, or the
-- attachment says openly that it does not matter.
create function alike._sees_all(a alike.attachment) returns boolean language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return alike._reads(a) and (coalesce((a.options ->> 'reveal')::boolean, false) or not row_security_active(a.source));
end
$$;

alter table alike.attachment enable row level security;
create policy owner on alike.attachment using (alike._owns(attachment));
create policy asker on alike.attachment for select using (alike._reads(attachment) or alike._keeps(attachment));

-- A checkin runs as the owner of the trigger's function, who needs no role of ours for
-- it. It says which attachment it is for, so that this is looked up once a statement and
-- not once a row, and before every attachment is; a lie about it gives no other attachment.
do $$
declare
  owned constant text := 'attachment in (select a.id from alike.attachment a where alike._owns(a))';
  checkin constant text := 'attachment = (
    select a.id from alike.attachment a
    where a.id = nullif(current_setting(''alike.checkin'', true), '''')::integer and (alike._owns(a) or alike._keeps(a)))';
  part name;
begin
  foreach part in array array['queue', 'extraction', 'chunk', 'backfill', 'error', 'admitted', 'request'] loop
    execute format('alter table alike.%I enable row level security', part);
    execute format('create policy owner on alike.%I using (%s) with check (%s)', part, owned, case part when 'queue' then checkin || ' or ' else '' end || owned);
  end loop;
  foreach part in array array['queue', 'extraction', 'chunk', 'backfill', 'error', 'admitted'] loop
    execute format('create policy asker on alike.%I for select using (attachment in (select a.id from alike.attachment a where alike._sees_all(a)))', part);
  end loop;
end
$$;

-- What was let pass is seen by who let it pass; a request by who made it.
create policy itself on alike.admitted for select using (admitted_by = current_user);
create policy passed on alike.admitted for insert
with check (admitted_by = current_user and attachment in (select a.id from alike.attachment a where alike._reads(a)));
create policy itself on alike.request using (asked_by = current_user)
with check (asked_by = current_user and attachment in (select a.id from alike.attachment a));

-- A question is seen by who asked it, and by those who answer (000038).
alter table alike.question enable row level security;
create policy itself on alike.question using (asked_by = current_user) with check (asked_by = current_user);

-- What is spliced into statements is checked however it comes into the table: nobody
-- gives an attachment an expression that was not looked at, or another's side tables.
create function alike._guard() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  known alike.attachment := new;
  makers oid[];
  taken regclass;
begin
  if new.row_filter is not null and (tg_op = 'INSERT' or (new.row_filter, new.source) is distinct from (old.row_filter, old.source)) then
    if new.row_filter is distinct from (select f.expression from alike._row_filter(new.source, new.row_filter) f) then
      raise exception 'alike: where: "%" is not as PostgreSQL spells it', left(new.row_filter, 100) using errcode = 'invalid_parameter_value',
        hint = 'alike.attach and alike.change write this column.';
    end if;
  end if;
  known.side := case tg_op when 'UPDATE' then old.side end; -- the new one may be another's
  makers := alike._makers(known);
  select c.oid into taken
  from unnest(array['', '_match', '_mark', '_cluster', '_event', '_value', '_part', '_pair', '_feature']) as suffix
  join pg_class c on c.oid in (new.side, to_regclass(format('%I.%I', new.side_schema, new.side_name || suffix)))
  where c.relowner <> all (makers)
  limit 1;
  if found then
    raise exception 'alike: % belongs to another role', taken using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;
create trigger guard before insert or update of source, side, side_schema, side_name, row_filter on alike.attachment
for each row execute function alike._guard();

-- What a worker does before it reads or removes rows of an attachment: takes the lock
-- that reading takes anyhow, so that what is found here holds until its transaction ends,
-- and learns why it may not: NULL, or a sentence. Without this check a worker
-- would remove the sketch of a row that a policy hides from it. profile is the number
-- under which it would write.
create function alike._hold(attachment integer, profile smallint) returns text language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  a alike.attachment;
  planted text;
  foreign_type text;
begin
  perform pg_advisory_xact_lock_shared(hashtext('alike build'), attachment);
  select * into a from alike.attachment t where t.id = _hold.attachment;
  if not found or not exists (select from pg_class where oid = a.source) then
    return null; -- the worker says so in its own words
  elsif not alike._owns(a) then
    return format('%s is not a member of %s, who owns %s', current_user, (select relowner::regrole from pg_class where oid = a.source), a.source);
  end if;
  if a.profile_id <> profile then
    return alike._other_build(a);
  end if;
  planted := alike._planted(a);
  if planted is not null then
    return planted;
  end if;
  execute format('lock table only %s in access share mode', a.source);
  if (select relkind from pg_class where oid = a.source) not in ('r', 'p') then
    return format('%s is not a table any more', a.source);
  elsif row_security_active(a.source) then
    return format('row-level security hides rows of %s from %s, who would take them for deleted: its owner is bound by FORCE ROW LEVEL SECURITY', a.source, current_user);
  end if;
  foreign_type := alike._foreign_type(a.source, alike._current(a));
  if a.row_filter is not null and foreign_type is not null then
    return format('where reads %s', foreign_type);
  end if;
  return null;
end
$$;
