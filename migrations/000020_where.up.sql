-- The option where: which rows of a table are attached.

-- An expression over one row of the table as PostgreSQL itself writes it, with
-- the columns it reads. It is parsed as the condition of a CHECK, where nothing
-- but an expression can stand, and only the parsed form is ever used.
create function alike._row_filter(source regclass, given text, out expression text, out columns name[]) language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
begin
  if given ~ ';' then
    raise exception 'alike: where: "%" has a semicolon; want one expression over the columns of a row', left(given, 100)
      using errcode = 'invalid_parameter_value';
  end if;
  execute format('create temporary table alike_row_filter (like %s)', source);
  begin
    execute format('alter table pg_temp.alike_row_filter add constraint alike_row_filter check (%s)', given);
  exception
    when others then
      raise exception 'alike: where: "%": %', left(given, 100), sqlerrm using errcode = sqlstate;
  end;
  select pg_get_expr(c.conbin, c.conrelid), (select array_agg(a.attname) from pg_attribute a where a.attrelid = c.conrelid and a.attnum = any (c.conkey))
  into expression, columns
  from pg_constraint c
  where c.conrelid = 'pg_temp.alike_row_filter'::regclass and c.conname = 'alike_row_filter';
  drop table pg_temp.alike_row_filter;
  columns := coalesce(columns, '{}');
end
$$;
