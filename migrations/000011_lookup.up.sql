-- From the name that a caller gives to an attachment, and from an attachment to what
-- belongs to it.

-- A relation as the caller would find it: no search path is set, hence every
-- name below is qualified. A name with capitals or blanks may also come without its quotes.
create function alike._relation(name text) returns regclass language plpgsql stable strict
as $$
declare
  spelling text;
  relation pg_catalog.regclass;
begin
  foreach spelling in array array[name, pg_catalog.quote_ident(name)] loop
    begin
      relation := pg_catalog.to_regclass(spelling);
      if relation is not null then
        return relation;
      end if;
    exception
      when invalid_name or syntax_error or feature_not_supported then
        null;
    end;
  end loop;
  return null;
end
$$;

-- The attachment that a caller names: by its table (of several attachments that
-- with the table's name), or by its own name.
create function alike._attachment_of(relation regclass, name text) returns alike.attachment language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  a alike.attachment;
  names text;
begin
  if relation is not null then
    select attachment.* into a from alike.attachment join pg_class on pg_class.oid = attachment.source
    where attachment.source = relation and attachment.replaces is null
    order by attachment.name = pg_class.relname desc
    limit 1;
    if found then
      if a.name <> (select relname from pg_class where oid = relation) then
        select string_agg(quote_literal(attachment.name), ', ' order by attachment.name) into names
        from alike.attachment where source = relation and replaces is null having count(*) > 1;
        if names is not null then
          raise exception 'alike: the table % has several attachments: name one of %', relation, names using errcode = 'ambiguous_alias';
        end if;
      end if;
      return a;
    end if;
  end if;
  select string_agg(format('%I.%I', side_schema, attachment.name), ', ') into names
  from alike.attachment where attachment.name = _attachment_of.name and replaces is null having count(*) > 1;
  if names is not null then
    raise exception 'alike: several attachments are called "%": %', name, names using errcode = 'ambiguous_alias';
  end if;
  select * into a from alike.attachment where attachment.name = _attachment_of.name and replaces is null;
  if not found then
    if relation is not null then
      raise exception 'alike: nothing is attached to %', relation using errcode = 'undefined_object',
        hint = 'select alike.attach(table, column) attaches it; a role that may not read the table sees no attachment.';
    end if;
    raise exception 'alike: nothing is attached to %', name using errcode = 'undefined_table';
  end if;
  return a;
end
$$;

-- The side table with a suffix, such as _pair, as SQL spells it.
create function alike._name(a alike.attachment, suffix text) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format('%I.%I', a.side_schema, a.side_name || suffix);
end
$$;

-- The roles that own what attach has made: the owner of the side table, which is the one before
-- until alike.own, the owner of the table, and who is at work. Where others may create tables and
-- functions in the schema, what belongs to one of them may have our name and is not ours.
create function alike._makers(a alike.attachment) returns oid[] language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select array_agg(c.relowner) || quote_ident(current_user)::regrole::oid from pg_class c where c.oid in (a.side, a.source));
end
$$;

create function alike._side(a alike.attachment, suffix text default '') returns regclass language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  named constant regclass := to_regclass(alike._name(a, suffix));
begin
  if named is null then
    return null;
  end if;
  return case when (select c.relowner from pg_class c where c.oid = named) = any (alike._makers(a)) then named end;
end
$$;

-- Functions that attach has written for this attachment, all or those of a verb.
create function alike._written(a alike.attachment, verb text default 'ask|build|enqueue|forget|holding|learn|merge|parts|probe|similar|sees|switch|values') returns setof pg_proc language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select p.* from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = a.side_schema and p.proname ~ ('^alike_(' || verb || ')_' || a.id || '$') and p.proowner = any (alike._makers(a))
$$;

-- A function that attach has written for this attachment, such as alike_build_7.
create function alike._generated(a alike.attachment, verb text) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format('%I.%I', a.side_schema, 'alike_' || verb || '_' || a.id);
end
$$;

-- The base type of a domain, of a domain over it and so on; any other type itself.
create function alike._base_type(type regtype) returns regtype language plpgsql stable strict
set search_path = pg_catalog, pg_temp
as $$
declare
  base regtype;
begin
  loop
    select t.typbasetype into base from pg_type t where t.oid = type and t.typtype = 'd';
    if not found then
      return type;
    end if;
    type := base;
  end loop;
end
$$;

-- In the side tables a column has the type and the collation it has in the table.
create function alike._column_types(relation regclass, columns name[]) returns text[] language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select array_agg(format_type(t.oid, att.atttypmod)
        || case when att.attcollation <> t.typcollation then (select format(' collate %I.%I', nspname, collname)
             from pg_collation c join pg_namespace n on n.oid = c.collnamespace where c.oid = att.attcollation) else '' end order by n)
    from unnest(columns) with ordinality as u(k, n)
    join pg_attribute att on att.attrelid = relation and att.attname = u.k
    join pg_type t on t.oid = alike._base_type(att.atttypid));
end
$$;

-- What the attachment's columns are called today, in the order of a.columns, NULL for
-- a column that is gone. A column is known by its number; where the table was restored from a
-- dump, which may number anew, or a column was dropped and made again, by its last name.
create function alike._current(a alike.attachment) returns name[] language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select array_agg(coalesce(t.attname, s.attname) order by u.n)
    from unnest(a.numbers, a.spelled) with ordinality as u(number, name, n)
    left join pg_attribute t on t.attrelid = a.source and t.attnum = u.number and not t.attisdropped and a.numbers_of = a.source::oid
    left join pg_attribute s on s.attrelid = a.source and s.attname = u.name and s.attnum > 0 and not s.attisdropped);
end
$$;

-- What has the name of something that attach has made and belongs to another role: ours was
-- dropped, and who may create in the schema took its name. Its code would run as those who
-- ask and work. NULL where everything is ours or missing.
create function alike._planted(a alike.attachment) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  schema constant oid := to_regnamespace(quote_ident(a.side_schema));
  makers constant oid[] := alike._makers(a);
  relations constant name[] := array[a.side_name, a.side_name || '_match', a.side_name || '_mark', a.side_name || '_pair', a.side_name || '_feature']
    || case when alike._in_parts(a) then (a.side_name || '_part')::name end || case when alike._contains(a) then (a.side_name || '_value')::name end;
  functions constant name[] := array['alike_build_' || a.id, 'alike_forget_' || a.id, 'alike_similar_' || a.id, 'alike_holding_' || a.id,
    'alike_merge_' || a.id, 'alike_learn_' || a.id, 'alike_switch_' || a.id, 'alike_probe_' || a.id];
begin
  -- Every question asks this, and mostly nothing is found.
  if not exists (select from pg_class c where c.relname = any (relations) and c.relnamespace = schema and c.relowner <> all (makers))
      and not exists (select from pg_proc p where p.proname = any (functions) and p.pronamespace = schema and p.proowner <> all (makers)) then
    return null;
  end if;
  return (
    select format('%s belongs to %s, who took its name: drop it, or detach and attach under another name', o.object, o.owner)
    from (
      select c.oid::regclass::text as object, c.relowner::regrole as owner
      from pg_class c
      where c.relnamespace = schema and c.relname = any (relations) and c.relowner <> all (makers)
      union all
      -- Others may add functions of the name: a call says the types of its arguments.
      select min(p.oid::regprocedure::text), min(p.proowner)::regrole
      from pg_proc p
      where p.pronamespace = schema and p.proname = any (functions)
      group by p.proname
      having bool_and(p.proowner <> all (makers))) o
    limit 1);
end
$$;

-- The attachment, or an error where another's code would answer for it, or none could.
create function alike._ours(a alike.attachment) returns alike.attachment language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  planted constant text := alike._planted(a);
begin
  if planted is not null then
    raise exception 'alike: %: %', a.name, planted using errcode = 'insufficient_privilege';
  elsif a.side::text = a.side::oid::text then -- no table has the number
    raise exception 'alike: the side table %.% is missing', quote_ident(a.side_schema), quote_ident(a.side_name) using errcode = 'undefined_table',
      hint = format('select alike.detach(%L), and attach again.', a.name);
  end if;
  return a;
end
$$;

create function alike._attachment(name text) returns alike.attachment language sql stable
as $$ select alike._ours(alike._attachment_of(alike._relation(name), name)) $$;

create function alike._current_keys(a alike.attachment) returns name[] language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (alike._current(a))[1:cardinality(a.key_columns)];
end
$$;

create function alike._current_document(a alike.attachment) returns name language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (alike._current(a))[cardinality(a.key_columns) + 1];
end
$$;

-- The attachment's columns of a row r under the names that they had at attach; NULL when
-- a column of the key is gone.
create function alike._columns_of(a alike.attachment, r text) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select string_agg(case when u.today is null then format('null::text as %I', u.name) else format('%s.%I as %I', r, u.today, u.name) end, ', ' order by u.n)
    from unnest(a.columns, alike._current(a)) with ordinality as u(name, today, n)
    having bool_and(u.today is not null or u.n > cardinality(a.key_columns)));
end
$$;

-- Whether something has another name than in the functions that attach has written, or the
-- key another type than in the side table. A side table that was renamed is missing.
create function alike._renamed(a alike.attachment) returns boolean language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array_position(alike._current(a), null) is null and exists (
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = a.side and c.relname = a.side_name and (
      n.nspname <> a.side_schema or a.numbers_of <> a.source::oid or alike._current(a) is distinct from a.spelled
      or alike._column_types(a.source, alike._current_keys(a)) is distinct from alike._column_types(a.side, a.key_columns)))
$$;
