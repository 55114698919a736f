-- What a person says of a pair of rows.

create function alike._mark(a alike.attachment, x text, y text, verdict text, note text) returns text language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  keys constant name[] := a.key_columns;
  types constant text[] := alike._key_types(alike._side(a), keys);
  mark constant text := alike._name(a, '_mark');
  columns constant text := alike._names(keys || alike._others(keys));
  equal boolean;
  less boolean; -- x comes first, as the columns order it
  itself boolean;
  rows integer := 0;
begin
  if x is null or y is null or verdict is null then
    return null;
  elsif verdict not in ('duplicate', 'distinct', 'none') then
    raise exception 'alike: mark: the verdict is "%", want duplicate, distinct or none', verdict using errcode = 'invalid_parameter_value';
  end if;
  perform alike._check_key(a, x), alike._check_key(a, y);
  begin
    execute format('select (%s) = (%s)',
      array_to_string(alike._key_values(keys, types, '$1'), ', '), array_to_string(alike._key_values(keys, types, '$2'), ', '))
    into equal using x, y;
  exception
    when data_exception then
      raise exception 'alike: mark: the keys "%" and "%" of % are not both %', left(x, 100), left(y, 100), a.name,
        case when cardinality(types) = 1 then types[1] else 'JSON arrays of ' || array_to_string(types, ', ') end
        using errcode = 'invalid_text_representation', detail = sqlerrm;
  end;
  if equal then
    raise exception 'alike: mark: both keys name the same row' using errcode = 'invalid_parameter_value';
  end if;
  for itself in execute format('select %1$s from %2$s s where %1$s or %3$s order by %4$s',
      alike._key_is(keys, types, 's', '$1'), alike._side(a), alike._key_is(keys, types, 's', '$2'), alike._key_list(keys, 's')) using x, y loop
    rows := rows + 1;
    less := coalesce(less, itself);
  end loop;
  if rows < 2 then
    perform alike._no_row(a, case when less then y else x end);
  end if;
  -- By hand the pair may have been written the other way round.
  execute format('select exists (select from %s m where %s and %s)', mark, alike._key_is(keys, types, 'm', '$1'), alike._key_is(alike._others(keys), types, 'm', '$2'))
  into itself using case when less then y else x end, case when less then x else y end;
  if itself then
    execute format('delete from %s m where %s and %s', mark, alike._key_is(keys, types, 'm', '$1'), alike._key_is(alike._others(keys), types, 'm', '$2'))
    using case when less then y else x end, case when less then x else y end;
  end if;
  if verdict = 'none' then
    execute format('delete from %s m where %s and %s', mark, alike._key_is(keys, types, 'm', '$1'), alike._key_is(alike._others(keys), types, 'm', '$2'))
    using case when less then x else y end, case when less then y else x end;
    perform alike._queue_judged(a, x, y);
    return verdict;
  end if;
  execute format('insert into %s (%s, verdict, note) values (%s, %s, $3, $4)
    on conflict (%s) do update set verdict = excluded.verdict, note = excluded.note, marked_at = excluded.marked_at, marked_by = excluded.marked_by',
    mark, columns, array_to_string(alike._key_values(keys, types, '$1'), ', '), array_to_string(alike._key_values(keys, types, '$2'), ', '), columns)
  using case when less then x else y end, case when less then y else x end, verdict, note;
  perform alike._queue_judged(a, x, y);
  return verdict;
end
$$;

-- Has the worker look again at the clusters of rows that were judged, where clusters are kept.
create function alike._queue_judged(a alike.attachment, x text, y text) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if alike._side(a, '_cluster') is not null then
    insert into alike.queue (attachment, key, more) values (a.id, alike._spelled(a, x), array[alike._spelled(a, y)]);
  end if;
end
$$;

create function alike.mark("table" text, key text, other text, verdict text, note text default null) returns text
language sql
as $$ select alike._mark(alike._attachment("table"), key, other, verdict, note) $$;
comment on function alike.mark(text, text, text, text, text) is 'a person''s verdict on a pair, duplicate or distinct, which every answer obeys; none withdraws it';

create function alike.mark("table" text, key anycompatible, other anycompatible, verdict text, note text default null) returns text
language sql
as $$ select alike.mark("table", alike._typed_key(key), alike._typed_key(other), verdict, note) $$;
comment on function alike.mark(text, anycompatible, anycompatible, text, text) is 'a person''s verdict on a pair of rows, whose keys are given by their type';

-- The keys that a person has called distinct from a key.
create function alike._distinct_from(a alike.attachment, itself text) returns text[] language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  keys constant name[] := a.key_columns;
  types constant text[] := alike._key_types(alike._side(a), keys);
  others constant name[] := alike._others(keys);
  result text[];
begin
  execute format('select array(select %s from %I.%I m where m.verdict = ''distinct'' and %s union all select %s from %I.%I m where m.verdict = ''distinct'' and %s)',
    alike._key_text(others, 'm'), a.side_schema, a.side_name || '_mark', alike._key_is(keys, types, 'm', '$1'),
    alike._key_text(keys, 'm'), a.side_schema, a.side_name || '_mark', alike._key_is(others, types, 'm', '$1'))
  into result using itself;
  return result;
end
$$;
