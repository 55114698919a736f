-- The option where: which rows of a table are attached.

-- What a column is made of, if somebody could write a cast or an operator for it that is
-- run when the column is read: a type that is neither PostgreSQL's own nor a superuser's.
create function alike._foreign_type(source regclass, columns name[]) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('the column %I, whose type %s belongs to %s', c.attname, t.oid::regtype, t.typowner::regrole)
  from pg_attribute c
  join pg_type b on b.oid = alike._base_type(c.atttypid)
  join pg_type t on t.oid = case when b.typcategory = 'A' then alike._base_type(b.typelem) else b.oid end
  join pg_roles o on o.oid = t.typowner
  where c.attrelid = source and c.attname = any (columns) and t.oid >= 16384 and not o.rolsuper
  limit 1
$$;

-- An expression over one row of the table as PostgreSQL itself writes it, with
-- the columns it reads. It is parsed as the condition of a partial index of an empty copy,
-- where nothing but an expression of immutable functions can stand, and only the parsed
-- form is ever used. The functions are those of PostgreSQL, or of an extension that a
-- superuser owns: they only compute, whichever role evaluates them. It is text that other
-- sessions read, so it has one form whatever the settings of the session.
create function alike._row_filter(source regclass, given text, out expression text, out columns name[]) language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning set standard_conforming_strings = on set quote_all_identifiers = off
as $$
declare
  schema constant name := (select nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = source);
  copy constant name := 'alike_where_' || pg_backend_pid();
  index regclass;
  foreign_object text;
begin
  if given ~ ';' then
    raise exception 'alike: where: "%" has a semicolon; want one expression over the columns of a row', left(given, 100)
      using errcode = 'invalid_parameter_value';
  end if;
  execute format('create table %I.%I (like %s)', schema, copy, source);
  begin
    execute format(E'create index alike_where on %I.%I ((1)) where %s\n', schema, copy, given);
  exception
    when others then
      raise exception 'alike: where: "%": %', left(given, 100), sqlerrm using errcode = sqlstate;
  end;
  select i.indexrelid, (
    select string_agg(case when m[1] like '''%' and strpos(m[1], E'\\') > 0 then 'E' || replace(m[1], E'\\', E'\\\\') else m[1] end, '' order by n)
    from regexp_matches(pg_get_expr(i.indpred, i.indrelid), '''(?:[^'']|'''')*''|"(?:[^"]|"")*"|[^''"]+', 'g') with ordinality as p(m, n))
  into index, expression
  from pg_index i where i.indrelid = format('%I.%I', schema, copy)::regclass;
  columns := array(
    select a.attname from pg_depend d join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where d.classid = 'pg_class'::regclass and d.objid = index and d.refclassid = 'pg_class'::regclass and d.refobjsubid > 0 order by a.attnum);
  select pg_describe_object(d.refclassid, d.refobjid, 0) into foreign_object
  from pg_depend d
  where d.classid = 'pg_class'::regclass and d.objid = index and d.refclassid not in ('pg_class'::regclass, 'pg_collation'::regclass)
    and not exists (
      select from pg_roles o
      where o.rolsuper and o.oid in (
          select proowner from pg_proc where d.refclassid = 'pg_proc'::regclass and oid = d.refobjid
          union all select oprowner from pg_operator where d.refclassid = 'pg_operator'::regclass and oid = d.refobjid
          union all select typowner from pg_type where d.refclassid = 'pg_type'::regclass and oid = d.refobjid)
        and exists (select from pg_depend e where e.classid = d.refclassid and e.objid = d.refobjid and e.deptype = 'e'))
  limit 1;
  execute format('drop table %I.%I', schema, copy);
  if exists (select from pg_attribute where attrelid = source and attname = any (columns) and attgenerated = 'v') then
    raise exception 'alike: where: "%" reads a virtual generated column, whose value triggers do not see', left(given, 100)
      using errcode = 'feature_not_supported', hint = 'Write the expression of the column, or have the column stored.';
  end if;
  foreign_object := coalesce(foreign_object, alike._foreign_type(source, columns));
  if foreign_object is not null then
    raise exception 'alike: where: "%" uses %, whose code would run with the rights of every role that reads the table; want functions and types of PostgreSQL or of an extension',
      left(given, 100), foreign_object using errcode = 'insufficient_privilege';
  end if;
end
$$;
