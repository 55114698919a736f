-- Keys in SQL. A key is text outside of the tables: its value, or a JSON array of the
-- values when it has several columns.
--
-- Dozens of calls of these functions make one statement. They are PL/pgSQL, whose plans a session
-- keeps: PostgreSQL before 18 parses and plans a function in SQL at every call.

-- x.id::text, or a JSON array of the columns.
create function alike._key_text(keys name[], alias text) returns text language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(keys) = 1 then
    return format('%s.%I::text', alias, keys[1]);
  end if;
  return 'jsonb_build_array(' || alike._key_list(keys, alias) || ')::text';
end
$$;

create function alike._key_list(keys name[], alias text, prefix text default '') returns text language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  k name;
  list text;
begin
  foreach k in array keys loop
    list := concat_ws(', ', list, format('%s.%I', alias, prefix || k));
  end loop;
  return list;
end
$$;

-- The name of the column that holds the other row's part of a key.
create function alike._other(keys name[], n bigint) returns text language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when cardinality(keys) = 1 then 'other' else 'other_' || keys[n] end;
end
$$;

create function alike._others(keys name[]) returns name[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  others name[];
begin
  for n in 1 .. cardinality(keys) loop
    others[n] := alike._other(keys, n);
  end loop;
  return others;
end
$$;

-- Columns as a list: "a", "b".
create function alike._names(columns name[]) returns text language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  c name;
  list text;
begin
  foreach c in array columns loop
    list := concat_ws(', ', list, quote_ident(c));
  end loop;
  return list;
end
$$;

-- The same key in two aliases: a.id = b.id and so on, or where the columns of b have
-- other names, a.other = b.id.
create function alike._key_equal(keys name[], a text, b text, keys_of_b name[] default null) returns text language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  list text;
begin
  for n in 1 .. cardinality(keys) loop
    list := concat_ws(' and ', list, format('%s.%I = %s.%I', a, keys[n], b, coalesce(keys_of_b[n], keys[n])));
  end loop;
  return list;
end
$$;

-- Row a comes before row b.
create function alike._key_less(keys name[], a text, b text) returns text language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return format('(%s) < (%s)', alike._key_list(keys, a), alike._key_list(keys, b));
end
$$;

-- The types of the key columns, from the side table.
create function alike._key_types(side regclass, keys name[]) returns text[] language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select array_agg(format_type(a.atttypid, a.atttypmod) order by n)
    from unnest(keys) with ordinality as u(k, n)
    join pg_attribute a on a.attrelid = side and a.attname = u.k and not a.attisdropped);
end
$$;

-- The value of each key column out of a key given as text: $1::bigint, or
-- ($1::jsonb->>0)::bigint and so on.
create function alike._key_values(keys name[], types text[], given text) returns text[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  list text[];
begin
  if cardinality(keys) = 1 then
    return array[format('(%s)::%s', given, types[1])];
  end if;
  for n in 1 .. cardinality(keys) loop
    list[n] := format('((%s)::jsonb->>%s)::%s', given, n - 1, types[n]);
  end loop;
  return list;
end
$$;

create function alike._key_is(keys name[], types text[], alias text, given text) returns text language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  wanted constant text[] := alike._key_values(keys, types, given);
  list text;
begin
  for n in 1 .. cardinality(keys) loop
    list := concat_ws(' and ', list, format('%s.%I = %s', alias, keys[n], wanted[n]));
  end loop;
  return list;
end
$$;

-- A value of every key column in an order of its own: for ORDER BY over keys
-- as text.
create function alike._key_order(a alike.attachment, given text) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array_to_string(alike._key_values(a.key_columns, alike._key_types(alike._side(a), a.key_columns), given), ', ')
$$;

create function alike._bad_key(a alike.attachment, given text, reason text) returns void language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(a.key_columns) > 1 then
    raise exception 'alike: the key is "%", want a JSON array of % values', left(given, 100), cardinality(a.key_columns) using errcode = 'invalid_text_representation', detail = reason;
  end if;
  raise exception 'alike: the key "%" of % is not %', left(given, 100), a.name, (alike._key_types(alike._side(a), a.key_columns))[1]
    using errcode = 'invalid_text_representation', detail = reason;
end
$$;

-- A key that is given as a value of its type, as text.
create function alike._typed_key(value anycompatible) returns text language sql stable parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$ select value::text $$;

-- A key of several columns that somebody gives has a value for each, and no more.
create function alike._check_key(a alike.attachment, given text) returns void language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  n integer;
begin
  if cardinality(a.key_columns) = 1 then
    return;
  end if;
  begin
    n := jsonb_array_length(given::jsonb);
  exception
    when data_exception then
      perform alike._bad_key(a, given, sqlerrm);
  end;
  if n <> cardinality(a.key_columns) then
    perform alike._bad_key(a, given, format('the array has %s', n));
  end if;
end
$$;

create function alike._no_row(a alike.attachment, given text) returns void language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'alike: % has no row %, or it has not been sketched yet', a.name, left(given, 100)
    using errcode = 'no_data_found', hint = 'select * from alike.status() shows how many rows are pending.';
end
$$;

create function alike._damaged_row(a alike.attachment, given text) returns void language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'alike: the sketch of row % of % is damaged', left(given, 100), a.name
    using errcode = 'data_corrupted', hint = format('select alike.refresh(%L) has the worker sketch the row again.', a.name);
end
$$;

-- A key as the functions of the attachment spell it. The caller has the settings that
-- alike._spelling names.
create function alike._spelled(a alike.attachment, given text) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  result text;
begin
  perform alike._check_key(a, given);
  execute format('select %s from (select %s) k(%s)', alike._key_text(a.key_columns, 'k'),
    array_to_string(alike._key_values(a.key_columns, alike._key_types(alike._side(a), a.key_columns), '$1'), ', '), alike._names(a.key_columns))
  into result using given;
  return result;
exception
  when data_exception then
    perform alike._bad_key(a, given, sqlerrm);
end
$$;

-- The settings under which a key of the attachment has one spelling, for a function that
-- spells keys; nothing for types that are always spelled alike. Functions that serve every
-- attachment have the same, and so have the worker's sessions (queries/postgres/settings.sql).
create function alike._spelling(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when bool_and(t.typtype = 'e' or t.oid = any ('{int2,int4,int8,oid,text,varchar,bpchar,name,uuid,numeric,bool}'::regtype[])) then ''
    else ' set timezone = ''UTC'' set datestyle = ''ISO, YMD'' set intervalstyle = ''postgres'' set extra_float_digits = 1 set bytea_output = ''hex''' end
  from unnest(alike._current_keys(a)) as k
  join pg_attribute c on c.attrelid = a.source and c.attname = k
  join pg_type t on t.oid = alike._base_type(c.atttypid)
$$;
