-- Every piece of SQL that depends on an attachment's names, key and columns is made
-- here, for the functions that attach writes as well as for the worker's statements.
-- A statement says {side} or {keys_s}, and alike._fill puts the piece there.

-- The template with every {name} replaced by that fragment. What a fragment brings
-- in is not looked at again.
create function alike._fill(template text, fragments jsonb) returns text language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  texts constant text[] := regexp_split_to_array(template, '[{][a-z][a-z_0-9]*[}]');
  names constant text[] := array(select m[1] from regexp_matches(template, '[{]([a-z][a-z_0-9]*)[}]', 'g') as m);
  result text := texts[1];
begin
  for i in 1 .. cardinality(names) loop
    if fragments ->> names[i] is null then
      raise exception 'alike: there is no fragment {%}', names[i];
    end if;
    result := result || (fragments ->> names[i]) || texts[i + 1];
  end loop;
  return result;
end
$$;

-- A document as text, or bytea as it is. An array becomes one of JSON.
create function alike._document_of(type regtype, expression text) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  base constant pg_type := t from pg_type t where t.oid = alike._base_type(type);
begin
  return case
    when base.oid is null then null
    when base.typcategory = 'A' then format('to_jsonb(%s)::text', expression)
    when base.oid = 'bytea'::regtype then expression
    else expression || '::text' end;
end
$$;

-- The attached rows of the table, as a query: the columns of the key, the document as
-- text or bytea, the column that says what the bytes are, and the row's version, which
-- Citus does not show. NULL when the table or a column of the key is gone. Rows of
-- tables that inherit from it are not its own.
create function alike._rows_of(a alike.attachment) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  names constant name[] := alike._current(a);
begin
  return (
    select format('select %s, %s as alike_document, %s as alike_media, %s as alike_version from (select %s%s from %s%I.%I t) d%s',
      alike._key_list(a.key_columns, 'd'),
      coalesce(alike._document_of(t.atttypid, format('d.%I', a.column_name)), format('d.%I', a.column_name)),
      case when jsonb_typeof(a.extract) = 'object' then format('d.%I::text', a.extract ->> 'column') else 'null::text' end,
      case when a.mode = 'scan' then 'null::text' else 'd.alike_version::text' end,
      alike._columns_of(a, 't'),
      case when a.mode = 'scan' then '' else ', t.xmin as alike_version' end,
      case when c.relkind = 'r' and not a.distributed then 'only ' else '' end,
      n.nspname, c.relname,
      ' where ' || a.row_filter)
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    left join pg_attribute t on t.attrelid = c.oid and t.attname = names[cardinality(a.key_columns) + 1]
    where c.oid = a.source and array_position(names[1:cardinality(a.key_columns)], null) is null);
end
$$;

-- The attachment as if it had no condition.
create function alike._unfiltered(a alike.attachment) returns alike.attachment language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  a.row_filter := null;
  return a;
end
$$;

-- sketch.ContentHash of d.alike_document, computed where the document is.
create function alike._hash_of(a alike.attachment) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  document constant name := alike._current_document(a);
begin
  return (
    select format('(''x'' || encode(substr(sha256(coalesce(%s, '''')), 1, 8), ''hex''))::bit(64)::bigint',
      case when alike._base_type(t.atttypid) = 'bytea'::regtype then 'd.alike_document' else 'convert_to(d.alike_document, ''UTF8'')' end)
    from pg_attribute t
    where t.attrelid = a.source and t.attname = document);
end
$$;

-- Whether equal features are found through parts (000037) and not through an index for each
-- feature on the side table.
create function alike._in_parts(a alike.attachment) returns boolean language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(a.options ->> 'layout' = 'parts', false);
end
$$;

-- The condition under which an entry in the parts has the features of a row of the side table.
create function alike._counts(a alike.attachment, entry text, of_row text) returns text language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select format('%s and %s.alike_entry = %s.alike_entry', alike._key_equal(a.key_columns, of_row, entry), of_row, entry) $$;

-- The columns that the worker computes, in the order of the side table.
create function alike._computed(a alike.attachment) returns text[] language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array['profile', 'content_hash', 'shingles', 'sketch']
    || array(select 'f' || n from generate_series(1, a.features) as n)
    || array(select 'g' || n from generate_series(1, a.superfeatures) as n)
    || array(select alike._si_column(v) from unnest(a.variants) with ordinality as u(v, n) order by n)
    || case when coalesce((a.options ->> 'contains')::boolean, false) then array['passages'] else '{}' end;
end
$$;

-- The condition under which the profile can have made the sketch of a row of the side table: a
-- disk or a program can damage it. Nothing compares with a damaged row, alike.status counts it, and
-- alike.refresh has it sketched again. tokens is an expression of bytes 20 and 21 of the sketch,
-- unless given those of the build that has sketched the rows.
create function alike._sound(a alike.attachment, of_row text, tokens text default null) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  made constant integer := (select s.tokens from alike.settings s where s.id = a.profile_id);
  p alike.profile_fields := alike._parse((select s.profile from alike.settings s where s.id = a.profile_id));
  header text;
begin
  p.tokens := coalesce(made, 0);
  header := encode(substr(alike._head(p, 0), 1, 20), 'hex');
  tokens := coalesce(tokens, case when made is not null then format('decode(%L, ''hex'')', lpad(to_hex(made), 4, '0')) end);
  -- The planner takes half of the rows for sound; of a chain of equations it would expect none.
  return 'case when ' || case
    when alike._slots(p.family) then format('length(%s.sketch) = %s and substr(%1$s.sketch, 1, 20) = decode(%3$L, ''hex'')', of_row,
      22 + (p.t * p.bits + 7) / 8 + case when p.family = 6 then (p.t + 7) / 8 else 0 end, header)
    else format('alike._is_list(%s.sketch, decode(%L, ''hex''))', of_row, header) end
    || coalesce(format(' and substr(%s.sketch, 21, 2) = ', of_row) || tokens, '') || ' then true else false end';
end
$$;

-- Whether a sketch is a list with a header that begins so, but for the exponent.
create function alike._is_list(sketch bytea, header bytea) returns boolean language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  family constant integer := get_byte(header, 4);
  size constant integer := get_byte(header, 14) << 8 | get_byte(header, 15);
begin
  return length(sketch) % 8 = 6 and length(sketch) >= 22 and substr(sketch, 1, 13) = substr(header, 1, 13) and substr(sketch, 15, 6) = substr(header, 15, 6)
    and get_byte(sketch, 13) <= case family when 3 then 63 else 0 end
    and case family when 1 then length(sketch) <= 22 + 8 * size and (length(sketch) > 22 or substr(header, 17, 4) <> E'\\x00000000'::bytea) when 3 then length(sketch) <= 822 else true end
    and alike._shared_values(substr(sketch, 23), substr(sketch, 23)) is not null;
end
$$;

-- Whether the sketch of a row is damaged. A row without a shingle has none.
create function alike._damaged(a alike.attachment, of_row text) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format('case when %s.sketch is null then %1$s.shingles > 0 else not (%s) end', of_row, alike._sound(a, of_row));
end
$$;

-- Aliases: d a row of {rows}, s one of the side table, m one of the tables about
-- pairs, k a key as text in k.key.
create function alike._fragments(a alike.attachment) returns jsonb language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  others constant name[] := alike._others(a.key_columns);
  types constant text[] := alike._key_types(alike._side(a), a.key_columns);
  computed constant text[] := alike._computed(a);
begin
  return jsonb_build_object(
    'id', a.id::text,
    'profile_id', a.profile_id::text,
    'rows', alike._rows_of(a),
    'hash', alike._hash_of(a),
    'side', alike._name(a, ''),
    'pair', alike._name(a, '_pair'),
    'part', alike._name(a, '_part'),
    'feature', alike._name(a, '_feature'),
    'match', alike._name(a, '_match'),
    'mark', alike._name(a, '_mark'),
    'cluster', alike._name(a, '_cluster'),
    'value', alike._name(a, '_value'),
    'build', alike._generated(a, 'build'),
    'forget', alike._generated(a, 'forget'),
    'switch', alike._generated(a, 'switch'),
    'learn', alike._generated(a, 'learn'),
    'similar', alike._generated(a, 'similar'),
    'keys', alike._names(a.key_columns),
    'keys_d', alike._key_list(a.key_columns, 'd'),
    'keys_s', alike._key_list(a.key_columns, 's'),
    'keys_m', alike._key_list(a.key_columns, 'm'),
    'others', alike._names(others),
    'others_m', alike._key_list(others, 'm'),
    'text_d', alike._key_text(a.key_columns, 'd'),
    'text_s', alike._key_text(a.key_columns, 's'),
    'text_m', alike._key_text(a.key_columns, 'm'),
    'text_others_m', alike._key_text(others, 'm'))
    || jsonb_build_object(
    'same', alike._key_equal(a.key_columns, 's', 'd'),
    'values', array_to_string(alike._key_values(a.key_columns, types, 'k.key'), ', '),
    'is_d', alike._key_is(a.key_columns, types, 'd', 'k.key'),
    'is_s', alike._key_is(a.key_columns, types, 's', 'k.key'),
    'computed', (select string_agg(quote_ident(c), ', ' order by n) from unnest(computed) with ordinality as u(c, n)),
    -- A key may be equal to another and be spelled otherwise. Citus lets no key be written.
    'excluded', (select string_agg(format('%1$I = excluded.%1$I', c), ', ' order by n)
      from unnest(case when a.distributed then '{}' else a.key_columns::text[] end || computed) with ordinality as u(c, n)));
end
$$;
