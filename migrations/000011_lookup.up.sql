-- From the name that a caller gives to an attachment, and from an attachment to what
-- belongs to it.

-- A relation as the caller would find it: no search path is set, hence every
-- name below is qualified.
create function alike._relation(name text) returns regclass language plpgsql stable strict
as $$
begin
  return pg_catalog.to_regclass(name);
exception
  when invalid_name or syntax_error or feature_not_supported then
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
      raise exception 'alike: the table % is not attached', relation using errcode = 'undefined_object',
        hint = 'select alike.attach(table, column) attaches it; to whom may not read it no table is attached.';
    end if;
    raise exception 'alike: there is no table or attachment "%"', name using errcode = 'undefined_table';
  end if;
  return a;
end
$$;

create function alike._attachment(name text) returns alike.attachment language sql stable
as $$ select alike._attachment_of(alike._relation(name), name) $$;

-- The side table with a suffix, such as _pair, as SQL spells it.
create function alike._name(a alike.attachment, suffix text) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$ select format('%I.%I', a.side_schema, a.side_name || suffix) $$;

create function alike._side(a alike.attachment, suffix text default '') returns regclass language sql stable
set search_path = pg_catalog, pg_temp
as $$ select to_regclass(alike._name(a, suffix)) $$;

-- A function that attach has written for this attachment, such as alike_build_7.
create function alike._generated(a alike.attachment, verb text) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$ select format('%I.%I', a.side_schema, 'alike_' || verb || '_' || a.id) $$;
