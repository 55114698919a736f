-- attach, detach and refresh. What they make is written out here as SQL; each
-- name goes through %I and each value through %L.

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

-- The attachment that a caller means: the one of that table, of several the
-- one of the table's name, or the one that is called so.
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
        hint = 'select alike.attach(table, column) attaches it.';
    end if;
    raise exception 'alike: there is no table or attachment "%"', name using errcode = 'undefined_table';
  end if;
  return a;
end
$$;

create function alike._attachment(name text) returns alike.attachment language sql stable
as $$ select alike._attachment_of(alike._relation(name), name) $$;

-- x.id::text, or a JSON array of the columns.
create function alike._key_text(keys name[], alias text) returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case
    when cardinality(keys) = 1 then format('%s.%I::text', alias, keys[1])
    else (select 'jsonb_build_array(' || string_agg(format('%s.%I', alias, k), ', ' order by n) || ')::text'
          from unnest(keys) with ordinality as u(k, n))
  end
$$;

create function alike._key_list(keys name[], alias text, prefix text default '') returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select string_agg(format('%s.%I', alias, prefix || k), ', ' order by n) from unnest(keys) with ordinality as u(k, n)
$$;

-- The name of the column that holds the other row's part of a key.
create function alike._other(keys name[], n bigint) returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select case when cardinality(keys) = 1 then 'other' else 'other_' || keys[n] end $$;

create function alike._others(keys name[]) returns name[] language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select array_agg(alike._other(keys, n) order by n)::name[] from generate_subscripts(keys, 1) as n $$;

-- Columns as a list: "a", "b".
create function alike._names(columns name[]) returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select string_agg(quote_ident(c), ', ' order by n) from unnest(columns) with ordinality as u(c, n) $$;

-- The same key in two aliases: a.id = b.id and so on, or where the columns of b have
-- other names, a.other = b.id.
create function alike._key_equal(keys name[], a text, b text, keys_of_b name[] default null) returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select string_agg(format('%s.%I = %s.%I', a, k, b, coalesce(keys_of_b[n], k)), ' and ' order by n) from unnest(keys) with ordinality as u(k, n)
$$;

-- Row a comes before row b.
create function alike._key_less(keys name[], a text, b text) returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select format('(%s) < (%s)', alike._key_list(keys, a), alike._key_list(keys, b))
$$;

-- The types of the key columns, from the side table.
create function alike._key_types(side regclass, keys name[]) returns text[] language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(format_type(a.atttypid, a.atttypmod) order by n)
  from unnest(keys) with ordinality as u(k, n)
  join pg_attribute a on a.attrelid = side and a.attname = u.k and not a.attisdropped
$$;

create function alike._side(a alike.attachment, suffix text default '') returns regclass language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_regclass(format('%I.%I', a.side_schema, a.side_name || suffix));
end
$$;

-- The value of each key column out of a key given as text: $1::bigint, or
-- ($1::jsonb->>0)::bigint and so on.
create function alike._key_values(keys name[], types text[], given text) returns text[] language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case
    when cardinality(keys) = 1 then array[format('(%s)::%s', given, types[1])]
    else (select array_agg(format('((%s)::jsonb->>%s)::%s', given, n - 1, types[n]) order by n)
          from generate_subscripts(keys, 1) as n)
  end
$$;

create function alike._key_is(keys name[], types text[], alias text, given text) returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select string_agg(format('%s.%I = %s', alias, keys[n], (alike._key_values(keys, types, given))[n]), ' and ' order by n)
  from generate_subscripts(keys, 1) as n
$$;

-- si_43b_40 for 43B/40.
create function alike._si_column(variant text) returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 'si_' || replace(lower(variant), '/', '_') $$;

-- The canonical spelling of a similarity index, or an error.
create function alike._variant(variant text, t integer) returns text language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  part text[];
  method integer;
begin
  if lower(variant) = 'length' then
    return 'length';
  end if;
  part := regexp_match(variant, '^forest/([0-9]{1,5})$', 'i');
  if part is not null then
    if part[1]::integer >= t / 8 then
      raise exception 'sketch: similarity index forest/%: a profile with t=% has % of eight minima, numbered from 0', part[1]::integer, t, t / 8
        using errcode = 'invalid_parameter_value';
    end if;
    return 'forest/' || part[1]::integer;
  end if;
  part := regexp_match(variant, '^([0-9]{1,2})([A-Da-d])/([0-9]{1,5})(/([0-9]{1,5}))?$');
  if part is null then
    raise exception 'sketch: similarity index "%": want a method, a variation and k as in 43B/40, or length, or forest/0', left(variant, 40)
      using errcode = 'invalid_parameter_value';
  end if;
  method := part[1]::integer;
  if method % 20 not between 1 and 14 or method > 54 then
    raise exception 'sketch: similarity index "%": method %, want 1 to 14, 21 to 34 or 41 to 54', variant, method
      using errcode = 'invalid_parameter_value';
  elsif method = 13 then
    raise exception 'sketch: similarity index "%": method 13, the most frequent words, has no form for characters; want 33 or 53', variant
      using errcode = 'invalid_parameter_value';
  elsif part[3]::integer not between 1 and 10000 or part[5]::integer not between 1 and 10000 then
    raise exception 'sketch: similarity index "%": k and the window want 1 to 10000', variant using errcode = 'invalid_parameter_value';
  elsif method % 20 in (5, 6) and part[5] is null then
    raise exception 'sketch: similarity index "%": method % winnows, want its window too, as in %', variant, method, variant || '/100'
      using errcode = 'invalid_parameter_value';
  end if;
  return method || upper(part[2]) || '/' || part[3]::integer || case when method % 20 in (5, 6) then '/' || part[5]::integer else '' end;
end
$$;

-- The number of a profile, given out when it is new.
create function alike._settings_id(spelling text) returns smallint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  found_id smallint;
begin
  select id into found_id from alike.settings where profile = spelling;
  if found_id is null then
    insert into alike.settings (profile) values (spelling) on conflict (profile) do nothing;
    select id into found_id from alike.settings where profile = spelling;
  end if;
  return found_id;
end
$$;

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

create function alike._grant(privileges text, object text, role text) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regrole(role) is not null then
    execute format('grant %s on %s to %I', privileges, object, role);
  end if;
end
$$;

-- The side table, its views and the tables of pairs.
create function alike._make_tables(a alike.attachment, types text[]) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  keys constant name[] := a.key_columns;
  columns text;
  others text;
  side constant text := format('%I.%I', a.side_schema, a.side_name);
  expected text[];
  present text[];
  object text;
begin
  select string_agg(format('%I %s not null', k, types[n]), ', ' order by n),
         string_agg(format('%I %s not null', alike._other(keys, n), types[n]), ', ' order by n)
  into columns, others
  from unnest(keys) with ordinality as u(k, n);
  expected := array(select k from unnest(keys) with ordinality as u(k, n) order by n)::text[]
    || array['profile', 'content_hash', 'shingles', 'sketch']
    || array(select 'f' || n from generate_series(1, a.features) as n)
    || array(select alike._si_column(v) from unnest(a.variants) with ordinality as u(v, n) order by n)
    || array['sketched_at'];
  if to_regclass(side) is null then
    execute format(
      'create table %s (%s, profile smallint not null, content_hash bigint not null, shingles bigint not null, sketch bytea, %s%s sketched_at timestamptz not null default now(), constraint %I primary key (%s))',
      side, columns,
      (select string_agg(format('f%s bigint, ', n), '' order by n) from generate_series(1, a.features) as n),
      (select coalesce(string_agg(format('%I bigint, ', alike._si_column(v)), '' order by n), '') from unnest(a.variants) with ordinality as u(v, n)),
      a.side_name || '_pkey', alike._names(keys));
  else
    present := array(select attname from pg_attribute where attrelid = side::regclass and attnum > 0 and not attisdropped order by attnum)::text[];
    if present <> expected then
      raise exception 'alike: % exists with other columns: has %, want %', side, array_to_string(present, ' '), array_to_string(expected, ' ')
        using errcode = 'duplicate_table', hint = 'Drop it, or give the attachment another name.';
    end if;
  end if;
  execute format('create table if not exists %I.%I (%s, %s, shared integer not null, resemblance double precision not null, low double precision not null, high double precision not null, policy text not null, matched_at timestamptz not null default now(), constraint %I primary key (%s, %s))',
    a.side_schema, a.side_name || '_match', columns, others, a.side_name || '_match_pkey',
    alike._names(keys),
    alike._names(alike._others(keys)));
  execute format('create table if not exists %I.%I (%s, %s, verdict text not null constraint %I check (verdict in (''duplicate'', ''distinct'')), note text, marked_at timestamptz not null default now(), marked_by name not null default session_user, constraint %I primary key (%s, %s))',
    a.side_schema, a.side_name || '_mark', columns, others, a.side_name || '_verdict', a.side_name || '_mark_pkey',
    alike._names(keys),
    alike._names(alike._others(keys)));
  foreach object in array array['_match', '_mark'] loop
    execute format('create index if not exists %I on %I.%I (%s)', a.side_name || object || '_other', a.side_schema, a.side_name || object,
      alike._names(alike._others(keys)));
  end loop;
  if a.distributed then
    perform alike._distribute(a);
  end if;
  execute format('create or replace view %I.%I as select %s, v.slot, v.feature from %s a cross join lateral (values %s) as v(slot, feature) where v.feature is not null',
    a.side_schema, a.side_name || '_feature', alike._key_list(keys, 'a'), side,
    (select string_agg(format('(%s, a.f%s)', n, n), ', ' order by n) from generate_series(1, a.features) as n));
  -- The equality join, one arm a feature.
  execute format('create or replace view %I.%I as %s', a.side_schema, a.side_name || '_pair', case when a.distributed then alike._pair_across_nodes(a) else (
    select string_agg(format('select %s, %s, %s as slot from %s a join %s b on b.f%s = a.f%s and not (%s)',
      alike._key_list(keys, 'a'),
      (select string_agg(format('b.%I as %I', k, alike._other(keys, m)), ', ' order by m) from unnest(keys) with ordinality as v(k, m)),
      n, side, side, n, n, alike._key_equal(keys, 'a', 'b')), ' union all ' order by n)
    from generate_series(1, a.features) as n) end);
  execute format('comment on table %s is %L', side, format('Alike: sketches of %s.%I', a.source, a.column_name));
  foreach object in array array['', '_pair', '_feature', '_match', '_mark'] loop
    object := format('%I.%I', a.side_schema, a.side_name || object);
    perform alike._grant('select', object, 'alike_reader');
    perform alike._grant('select', object, 'alike_worker');
    perform alike._grant('select', object, 'alike_admin');
  end loop;
  perform alike._grant('insert, update, delete', side, 'alike_worker');
  perform alike._grant('insert, update, delete', format('%I.%I', a.side_schema, a.side_name || '_match'), 'alike_worker');
  perform alike._grant('insert, update, delete', format('%I.%I', a.side_schema, a.side_name || '_mark'), 'alike_admin');
end
$$;

-- alike_build_N makes the indexes of the side table. The worker calls it when
-- the table is filled, which is several times as fast as filling it with them.
-- The worker does not own the table, so the function runs as its owner. It takes
-- nothing and does one thing.
create function alike._make_builder(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  builder constant text := format('%I.%I()', a.side_schema, 'alike_build_' || a.id);
  columns text[] := array(select 'f' || n from generate_series(1, a.features) as n) || array(select alike._si_column(v) from unnest(a.variants) as v);
begin
  execute format('create function %s returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as %L', builder,
    E'begin\n' || (
      select string_agg(format(
        '  if not exists (select from pg_index i join pg_attribute c on c.attrelid = i.indrelid and c.attnum = i.indkey[0] where i.indrelid = %L::regclass and i.indnatts = 1 and i.indisvalid and c.attname = %L) then create index on %I.%I (%I); end if;',
        format('%I.%I', a.side_schema, a.side_name), c, a.side_schema, a.side_name, c), E'\n' order by n)
      from unnest(columns) with ordinality as u(c, n)) || format(E'\n  analyze %I.%I;\nend', a.side_schema, a.side_name));
  execute format('revoke all on function %s from public', builder);
  perform alike._grant('execute', 'function ' || builder, 'alike_worker');
end
$$;

create function alike._bad_key(a alike.attachment, given text, reason text) returns void language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'alike: the key "%" of % is not %', left(given, 100), a.name,
    (select case when cardinality(types) = 1 then types[1] else 'a JSON array of ' || array_to_string(types, ', ') end
     from alike._key_types(alike._side(a), a.key_columns) as types)
    using errcode = 'invalid_text_representation', detail = reason;
end
$$;

create function alike._no_row(a alike.attachment, given text) returns void language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'alike: % has no row with the key %, or it has not been sketched yet', a.name, left(given, 100)
    using errcode = 'no_data_found', hint = 'select * from alike.status() shows how many rows are pending.';
end
$$;

-- alike_similar_N finds the rows that resemble a document. It is written out
-- for each attachment so that its plans are kept: planning would take three
-- times as long as the answer. One scan that ORs the feature indexes finds the
-- candidates; a row of another profile waits to be sketched again, and does not
-- compare; what a person has said of a pair comes first.
create function alike._make_similar(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  side constant text := format('%I.%I', a.side_schema, a.side_name);
  mark constant text := format('%I.%I', a.side_schema, a.side_name || '_mark');
  types constant text[] := alike._key_types(side::regclass, keys);
  others constant name[] := alike._others(keys);
  family constant integer := (select (alike._parse(s.profile)).family from alike.settings s where s.id = a.profile_id);
  -- What is known of a row s: its key, in text and as it is, and its features in common.
  known constant text := format('%s as key, %s, %s as shared, s.sketch, alike.resemblance(document, s.sketch) as resemblance', alike._key_text(keys, 's'),
    (select string_agg(format('s.%I as k%s', keys[n], n), ', ' order by n) from generate_subscripts(keys, 1) as n),
    (select string_agg(format('coalesce((s.f%s = features[%s])::integer, 0)', n, n), ' + ' order by n) from generate_series(1, a.features) as n));
  found constant text := format(
    'select * from (select %s from %s s where (%s) and s.profile = %s offset 0) as f
     where f.resemblance >= at_least and f.key is distinct from itself and f.key <> all (distinct_keys) and f.key <> all (duplicate_keys)',
    known, side, (select string_agg(format('s.f%s = features[%s]', n, n), ' or ' order by n) from generate_series(1, a.features) as n), a.profile_id);
  judged constant text := format('select %s from unnest(duplicate_keys) as k(key) join %s s on %s where s.profile = %s and s.sketch is not null',
    known, side, alike._key_is(keys, types, 's', 'k.key'), a.profile_id);
  answer constant text := format(
    'return query select c.key, c.shared, c.resemblance, b.low, b.high, %s from (%%s) as c cross join lateral alike._bounds(document, c.sketch, 0.95) as b
     order by c.resemblance desc, c.shared desc, %s;',
    case when family in (2, 3) then 'alike.containment(document, c.sketch)' else 'null::double precision' end,
    (select string_agg('c.k' || n, ', ' order by n) from generate_subscripts(keys, 1) as n));
begin
  execute format('create function %I.%I(features bigint[], document bytea, itself text, at_least double precision) returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision) language plpgsql stable set search_path = pg_catalog, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = %s as %L',
    a.side_schema, 'alike_similar_' || a.id,
    -- Which node is asked depends on the key.
    case when a.distributed then 'force_custom_plan' else 'force_generic_plan' end, format($function$
declare
  there boolean;
  distinct_keys text[] := '{}';
  duplicate_keys text[] := '{}';
begin
  if itself is not null then
    begin
      if features is null then
        select true, array[%1$s], s.sketch into there, features, document from %2$s s where %3$s and s.profile = %4$s;
        if there is null then
          perform alike._no_row(a, itself) from alike.attachment a where a.id = %5$s;
        end if;
      end if;
      if exists (select from %6$s) then
        distinct_keys := array(select %7$s from %6$s s where s.verdict = 'distinct' and %3$s union all select %8$s from %6$s s where s.verdict = 'distinct' and %9$s);
        duplicate_keys := array(select %7$s from %6$s s where s.verdict = 'duplicate' and %3$s union all select %8$s from %6$s s where s.verdict = 'duplicate' and %9$s);
      end if;
    exception
      when data_exception then
        perform alike._bad_key(a, itself, sqlerrm) from alike.attachment a where a.id = %5$s;
    end;
  end if;
  if document is null then
    return;
  elsif duplicate_keys = '{}' then
    %10$s
  else
    %11$s
  end if;
end
$function$,
    (select string_agg('s.f' || n, ', ' order by n) from generate_series(1, a.features) as n),  -- 1
    side,                                                                                        -- 2
    alike._key_is(keys, types, 's', 'itself'),                                                   -- 3
    a.profile_id,                                                                                -- 4
    a.id,                                                                                        -- 5
    mark,                                                                                        -- 6
    alike._key_text(others, 's'),                                                                -- 7
    alike._key_text(keys, 's'),                                                                  -- 8
    alike._key_is(others, types, 's', 'itself'),                                                 -- 9
    format(answer, found),                                                                       -- 10
    format(answer, found || ' union all ' || judged)));                                          -- 11
end
$$;

-- alike_enqueue_N is what the triggers call: it appends to the queue, and what a
-- person has said of a row goes with the row, or follows it to its new key, in the
-- same statement. It runs as its owner, so that whoever may write documents needs
-- no right in the schema alike and none on verdicts.
create function alike._make_enqueue(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  others constant name[] := alike._others(keys);
  mark constant text := format('%I.%I', a.side_schema, a.side_name || '_mark');
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
begin
  if tg_op = 'INSERT' then
    insert into alike.queue (attachment, key) %1$s;
  elsif tg_op = 'UPDATE' then
    insert into alike.queue (attachment, key) values (%2$s, %3$s);
    if %4$s <> %3$s then
      insert into alike.queue (attachment, key) values (%2$s, %4$s);
      if exists (select from %5$s) then
        %6$s
        %7$s
      end if;
    end if;
  elsif tg_op = 'DELETE' then
    insert into alike.queue (attachment, key) %8$s;
    if exists (select from %5$s) then
      %9$s
    end if;
  else
    insert into alike.queue (attachment) values (%2$s);
    delete from %5$s;
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
           format('delete from %s m using alike_rows n where %s', mark, alike._key_equal(others, 'm', 'n', keys))) end));
  execute format('revoke all on function %I.%I() from public', a.side_schema, 'alike_enqueue_' || a.id);
end
$$;

-- alike_forget_N removes what a person has said of rows that are not in the table
-- any more, of those with the given keys, or of all. It is for what no trigger saw:
-- a table without triggers, or rows that went while they were disabled. It runs as
-- its owner: the worker calls it, who may not write verdicts, and whom it lets
-- remove none of a row that is there.
create function alike._make_forget(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  types constant text[] := alike._key_types(alike._side(a), keys);
  others constant name[] := alike._others(keys);
  forget constant text := format('%I.%I(text[])', a.side_schema, 'alike_forget_' || a.id);
  gone constant text := format('(select %s from unnest(gone) as k(key))', array_to_string(alike._key_values(keys, types, 'k.key'), ', '));
begin
  execute format('create or replace function %I.%I(given text[]) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp set datestyle = ''ISO, YMD'' set intervalstyle = ''postgres'' as %L',
    a.side_schema, 'alike_forget_' || a.id, format(
$function$
declare
  gone text[];
begin
  if not exists (select from %1$s) then
    return;
  elsif given is null then
    select array_agg(q.key) into given from (select %2$s as key from %1$s m union select %3$s from %1$s m) q;
  end if;
  select array_agg(q.key) into gone
  from (select k.key from unnest(given) as k(key) except select k.key from unnest(given) as k(key) join %4$s s on %5$s) q;
  delete from %1$s m where (%6$s) in %8$s;
  delete from %1$s m where (%7$s) in %8$s;
end
$function$,
    format('%I.%I', a.side_schema, a.side_name || '_mark'), alike._key_text(keys, 'm'), alike._key_text(others, 'm'), a.source,
    alike._key_is(keys, types, 's', 'k.key'), alike._key_list(keys, 'm'), alike._key_list(others, 'm'), gone));
  execute format('revoke all on function %s from public', forget);
  perform alike._grant('execute', 'function ' || forget, 'alike_worker');
end
$$;

-- The triggers, as cheap as they could be measured: a statement's inserts at
-- once, updates only where the document, the key or the condition changed.
create function alike._make_triggers(a alike.attachment, document_type text) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  enqueue constant text := format('%I.%I()', a.side_schema, 'alike_enqueue_' || a.id);
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

create function alike._attach(relation regclass, given_name text, "column" text, options jsonb, replaced integer) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  class pg_class;
  a alike.attachment;
  attribute pg_attribute;
  document_type text;
  types text[];
  profile alike.profile_fields;
  option text;
  other text;
  rows bigint;
  old alike.attachment;
  kept boolean; -- what an earlier detach has left
begin
  if relation is null then
    raise exception 'alike: attach: there is no table "%"', given_name using errcode = 'undefined_table';
  end if;
  select * into class from pg_class where oid = relation;
  if class.relkind not in ('r', 'p') then
    raise exception 'alike: attach: % is not a table', relation using errcode = 'wrong_object_type';
  elsif class.relpersistence = 't' then
    raise exception 'alike: attach: % is a temporary table, which no worker can see', relation using errcode = 'wrong_object_type';
  elsif class.relnamespace in ('alike'::regnamespace, 'pg_catalog'::regnamespace, 'information_schema'::regnamespace) then
    raise exception 'alike: attach: % is a table of the system', relation using errcode = 'wrong_object_type';
  end if;
  if jsonb_typeof(options) <> 'object' then
    raise exception 'alike: attach: options %, want a JSON object', options using errcode = 'invalid_parameter_value';
  end if;
  for option in select jsonb_object_keys(options) loop
    if option not in ('profile', 'si', 'policy', 'at_least', 'mode', 'distributed', 'name', 'where', 'extract', 'key', 'ask') then
      raise exception 'alike: attach: unknown option "%", want profile, si, policy, at_least, mode, distributed, name, where, extract, key or ask', option
        using errcode = 'invalid_parameter_value';
    end if;
    if jsonb_typeof(options -> option) <> all (case option
        when 'si' then array['array'] when 'key' then array['array', 'string'] when 'at_least' then array['number', 'null'] when 'distributed' then array['boolean']
        when 'extract' then array['object', 'string'] when 'ask' then array['object']
        else array['string'] end) then
      raise exception 'alike: attach: option % is %, want %', option, options -> option, case option
          when 'si' then 'an array of strings' when 'key' then 'an array of column names' when 'at_least' then 'a number from 0 to 1, or null' when 'distributed' then 'true or false'
          when 'extract' then 'a string or an object' when 'ask' then 'an object' else 'a string' end
        using errcode = 'invalid_parameter_value';
    end if;
  end loop;
  -- Rights first: nothing is made before all of them are there.
  if not has_table_privilege(relation, 'trigger') or not has_table_privilege(relation, 'select') then
    raise exception 'alike: attach: % may not read % and create triggers on it', current_user, relation using errcode = 'insufficient_privilege';
  elsif not has_schema_privilege(class.relnamespace, 'create') then
    raise exception 'alike: attach: % may not create tables in the schema %', current_user, class.relnamespace::regnamespace using errcode = 'insufficient_privilege';
  elsif not has_table_privilege('alike.attachment', 'insert') then
    raise exception 'alike: attach: % is not a member of alike_admin', current_user using errcode = 'insufficient_privilege';
  end if;

  select * into attribute from pg_attribute
  where attrelid = relation and attnum > 0 and not attisdropped and attname in ("column", lower("column"))
  order by attname = "column" desc limit 1;
  if not found then
    raise exception 'alike: attach: % has no column "%"', relation, "column" using errcode = 'undefined_column';
  end if;
  with recursive base as (
    select t.* from pg_type t where t.oid = attribute.atttypid
    union all
    select t.* from pg_type t join base on t.oid = base.typbasetype and base.typtype = 'd'
  )
  select typname into document_type from base
  where typtype <> 'd' and (typcategory = 'S' or oid in ('json'::regtype, 'jsonb'::regtype, 'bytea'::regtype, 'xml'::regtype));
  if document_type is null then
    raise exception 'alike: attach: %.% is %, want text, varchar, json, jsonb, xml or bytea', relation, attribute.attname, format_type(attribute.atttypid, attribute.atttypmod)
      using errcode = 'datatype_mismatch';
  end if;

  a.source := relation;
  a.column_name := attribute.attname;
  a.name := coalesce(options ->> 'name', class.relname);
  a.side_schema := class.relnamespace::regnamespace::text;
  a.side_schema := (select nspname from pg_namespace where oid = class.relnamespace);
  if a.name = '' or octet_length(a.name) > 49 then
    raise exception 'alike: attach: the name "%" has % bytes, want 1 to 49', a.name, octet_length(a.name)
      using errcode = 'name_too_long', hint = 'The option name gives the attachment another one.';
  end if;
  select * into old from alike.attachment
  where attachment.side_schema = a.side_schema and attachment.name = a.name and attachment.replaces is null;
  if found and replaced is null and old.source = relation and old.column_name = a.column_name and options - 'name' <> '{}' then
    return alike._change(old, options - 'name');
  elsif found and replaced is null then
    raise exception 'alike: attach: "%" is attached to %.%', a.name, old.source, quote_ident(old.column_name)
      using errcode = 'duplicate_object', hint = 'The option name gives a second attachment its own name; options, such as another profile, change the first.';
  end if;
  a.side_name := a.name || '_alike' || case when replaced is null then '' else '_next' end;
  if replaced is not null and octet_length(a.name) > 44 then
    raise exception 'alike: change: the name "%" has % bytes, want at most 44', a.name, octet_length(a.name) using errcode = 'name_too_long';
  end if;

  -- The key: as given, or the primary key, or a unique index without NULLs.
  select array(select att.attname from unnest(i.indkey::int2[]) with ordinality as u(num, n)
               join pg_attribute att on att.attrelid = relation and att.attnum = u.num where n <= i.indnkeyatts order by n)
  into a.key_columns
  from pg_index i
  where i.indrelid = relation and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
    and not exists (select from unnest(i.indkey::int2[]) with ordinality as u(num, n) join pg_attribute att on att.attrelid = relation and att.attnum = u.num
                    where n <= i.indnkeyatts and not att.attnotnull)
    and (not options ? 'key'
         or array(select att.attname::text from pg_attribute att where att.attrelid = relation and att.attnum = any (i.indkey::int2[]) order by 1)
            = array(select e from jsonb_array_elements_text(case jsonb_typeof(options -> 'key') when 'array' then options -> 'key' else jsonb_build_array(options -> 'key') end) as e order by 1))
  order by i.indisprimary desc, i.indnkeyatts, i.indexrelid
  limit 1;
  if a.key_columns is null then
    raise exception 'alike: attach: % has no primary key or unique index without NULLs%', relation,
      case when options ? 'key' then ' on ' || (options ->> 'key') else '' end using errcode = 'invalid_table_definition';
  end if;
  foreach option in array a.key_columns loop
    if option in ('profile', 'content_hash', 'shingles', 'sketch', 'sketched_at', 'slot', 'feature', 'shared', 'resemblance', 'low', 'high',
                  'policy', 'matched_at', 'verdict', 'note', 'marked_at', 'marked_by', 'other')
       or option ~ '^(f[0-9]+|si_.*|other_.*)$' then
      raise exception 'alike: attach: the key column "%" is called like a column of the side tables', option using errcode = 'duplicate_column';
    elsif cardinality(a.key_columns) > 1 and octet_length(option) > 57 then
      raise exception 'alike: attach: the key column "%" has % bytes, want at most 57', option, octet_length(option) using errcode = 'name_too_long';
    end if;
  end loop;
  -- In the side tables a column has the type and the collation it has here.
  select array_agg(format_type(att.atttypid, att.atttypmod)
      || case when att.attcollation <> t.typcollation then (select format(' collate %I.%I', nspname, collname)
           from pg_collation c join pg_namespace n on n.oid = c.collnamespace where c.oid = att.attcollation) else '' end order by n)
  into types
  from unnest(a.key_columns) with ordinality as u(k, n)
  join pg_attribute att on att.attrelid = relation and att.attname = u.k
  join pg_type t on t.oid = att.atttypid;

  profile := alike._parse(coalesce(options ->> 'profile', 'text'));
  if profile.bits = 64 and alike._slots(profile.family) and coalesce(options ->> 'profile', '') !~* 'bits=64' then
    profile.bits := 8;
  end if;
  a.profile_id := alike._settings_id(alike._spell(profile));
  a.features := profile.k;
  a.at_least := coalesce((options ->> 'at_least')::double precision, alike._half_point(profile.k, profile.s, profile.r));
  if not (a.at_least >= 0 and a.at_least <= 1) then
    raise exception 'alike: attach: at_least %, want 0 to 1', a.at_least using errcode = 'invalid_parameter_value';
  end if;
  a.variants := '{}';
  for option in select e from jsonb_array_elements_text(coalesce(options -> 'si', '[]')) as e loop
    option := alike._variant(option, profile.t);
    if option <> all (a.variants) then
      a.variants := a.variants || option;
    end if;
  end loop;
  a.policy := coalesce(options ->> 'policy', 'ignore');
  if a.policy not in ('ignore', 'link', 'warn', 'reject') then
    raise exception 'alike: attach: policy "%", want ignore, link, warn or reject', a.policy using errcode = 'invalid_parameter_value';
  end if;
  if options ? 'ask' then
    if a.policy <> 'reject' then
      raise exception 'alike: attach: ask is for the policy reject, not %', a.policy using errcode = 'invalid_parameter_value';
    elsif (options -> 'ask') - '{connection,timeout,otherwise}'::text[] <> '{}' or jsonb_typeof(options #> '{ask,connection}') is distinct from 'string'
       or coalesce(jsonb_typeof(options #> '{ask,timeout}'), 'number') <> 'number' or coalesce(options #>> '{ask,otherwise}', 'accept') not in ('accept', 'refuse') then
      raise exception 'alike: attach: ask %, want {"connection": SERVER, "timeout": SECONDS, "otherwise": "accept" or "refuse"}', options -> 'ask'
        using errcode = 'invalid_parameter_value';
    elsif not coalesce((options #>> '{ask,timeout}')::double precision, 2) between 0.01 and 300 then
      raise exception 'alike: attach: ask: timeout %, want 0.01 to 300 seconds', options #>> '{ask,timeout}' using errcode = 'invalid_parameter_value';
    end if;
  end if;
  a.distributed := coalesce((options ->> 'distributed')::boolean, false);
  perform alike._check_distributed(relation, a.distributed, options);
  a.mode := coalesce(options ->> 'mode', case when a.distributed then 'scan' else 'queue' end);
  if a.mode not in ('queue', 'scan') then
    raise exception 'alike: attach: mode "%", want queue, or scan for a table that takes no triggers', a.mode using errcode = 'invalid_parameter_value';
  end if;
  a.extract := alike._extract_option(options -> 'extract', document_type, relation);
  a.filter_columns := '{}';
  if options ? 'where' then
    select f.expression, f.columns into a.row_filter, a.filter_columns from alike._row_filter(relation, options ->> 'where') as f;
  end if;
  if jsonb_typeof(a.extract) = 'object' then
    a.filter_columns := a.filter_columns || (a.extract ->> 'column')::name;
  end if;

  -- A change that no number depends on is made where it is.
  if replaced is not null and (a.profile_id, a.variants, a.extract, a.row_filter) is not distinct from (old.profile_id, old.variants, old.extract, old.row_filter)
     and not options ? 'ask' and not old.options ? 'ask' then
    update alike.attachment t set policy = a.policy, at_least = a.at_least, options = _attach.options where t.id = replaced;
    return 0;
  end if;

  execute format('select count(*) from %s%s', relation, ' where ' || a.row_filter) into rows;
  a.indexed := false;
  insert into alike.attachment (name, source, column_name, key_columns, side_schema, side_name, profile_id, variants, features, policy, mode, distributed,
                                at_least, row_filter, filter_columns, extract, options, indexed, replaces)
  values (a.name, a.source, a.column_name, a.key_columns, a.side_schema, a.side_name, a.profile_id, a.variants, a.features, a.policy, a.mode, a.distributed,
          a.at_least, a.row_filter, a.filter_columns, a.extract, options, a.indexed, replaced)
  returning * into a;
  kept := alike._side(a) is not null;
  perform alike._make_tables(a, types);
  perform alike._make_builder(a);
  perform alike._make_similar(a);
  perform alike._make_forget(a);
  if rows < 10000 then
    execute format('select %I.%I()', a.side_schema, 'alike_build_' || a.id);
    update alike.attachment set indexed = true where id = a.id;
  end if;
  if a.mode = 'queue' then
    perform alike._make_triggers(a, document_type);
  end if;
  if options ? 'ask' then
    perform alike._make_ask(a, document_type);
  end if;
  if profile.t <= 256 and alike._slots(profile.family) then
    insert into alike.lower_bound (trials, matches, lower)
    select profile.t, m, alike._binomial_lower(profile.t, m, 0.95) from generate_series(0, profile.t) as m
    where not exists (select from alike.lower_bound where trials = profile.t)
    on conflict do nothing;
  end if;
  insert into alike.backfill (attachment, rows, deletions) values (a.id, rows, kept);
  perform pg_notify('alike', a.id::text);
  if to_regrole('alike_worker') is not null and not has_table_privilege('alike_worker', relation, 'select') then
    raise notice 'a worker that is only a member of alike_worker needs: grant select on % to alike_worker', relation;
  end if;
  return rows;
end
$$;

-- How bytes become text: NULL for as they are, a media type or a short name of
-- one, "auto" to look at the bytes, or {"column": NAME} for a column that says
-- it. Which command is run for a type is the worker's own setting.
create function alike._extract_option(given jsonb, document_type text, source regclass) returns jsonb language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if given is null or given = '"plain"' then
    return null;
  end if;
  if jsonb_typeof(given) = 'string' and (given #>> '{}') !~ '^(html|pdf|docx|auto|[a-z0-9.+-]+/[a-z0-9.+-]+)$' then
    raise exception 'alike: attach: extract "%", want plain, html, pdf, docx, auto or a media type', left(given #>> '{}', 100) using errcode = 'invalid_parameter_value';
  elsif jsonb_typeof(given) = 'object' and (jsonb_typeof(given -> 'column') is distinct from 'string' or given - 'column' <> '{}') then
    raise exception 'alike: attach: extract %, want {"column": NAME}', given using errcode = 'invalid_parameter_value';
  elsif jsonb_typeof(given) = 'object' and not exists (
      select from pg_attribute where attrelid = source and attnum > 0 and not attisdropped and attname = given ->> 'column') then
    raise exception 'alike: attach: extract: % has no column "%"', source, given ->> 'column' using errcode = 'undefined_column';
  elsif given <> '"html"' and document_type <> 'bytea' then
    raise exception 'alike: attach: extract % needs a bytea document, this one is %', given, document_type using errcode = 'datatype_mismatch';
  end if;
  return given;
end
$$;

create function alike.attach("table" text, "column" text, options jsonb default '{}') returns bigint language sql strict
as $$ select alike._attach(alike._relation("table"), "table", "column", options, null) $$;
comment on function alike.attach(text, text, jsonb) is 'gives a table the aspect; returns the number of rows that the worker will sketch';

-- A profile is changed by building the new side table beside the old one, which
-- answers until the new one is full; then the two change places in one
-- transaction. Verdicts, matches and kept clusters stay. Options that are not
-- given are as they were, but ask goes with the policy that it is for. Another policy
-- or at_least needs nothing built.
create function alike._change(a alike.attachment, options jsonb) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  rows bigint;
  fresh alike.attachment;
  option text;
begin
  foreach option in array array['name', 'key', 'mode', 'distributed', 'where'] loop
    if options ? option then
      raise exception 'alike: change: the option % stays as it is; detach and attach again', option using errcode = 'invalid_parameter_value';
    end if;
  end loop;
  if exists (select from alike.attachment t where t.replaces = a.id) then
    raise exception 'alike: change: % is being changed already', a.name using errcode = 'object_in_use',
      hint = 'select * from alike.status() shows how far it is.';
  end if;
  rows := alike._attach(a.source, a.name, a.column_name,
    a.options - case when coalesce(options ->> 'policy', a.policy) <> 'reject' then 'ask' else '' end || options
    || jsonb_build_object('name', a.name, 'key', to_jsonb(a.key_columns)), a.id);
  select * into fresh from alike.attachment t where t.replaces = a.id;
  if not found then
    return rows;
  end if;
  execute format('create function %I.%I() returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as %L',
    a.side_schema, 'alike_switch_' || fresh.id, format('begin perform alike._switch(a) from alike.attachment a where a.id = %s; end', fresh.id));
  execute format('revoke all on function %I.%I() from public', a.side_schema, 'alike_switch_' || fresh.id);
  perform alike._grant('execute', format('function %I.%I()', a.side_schema, 'alike_switch_' || fresh.id), 'alike_worker');
  return rows;
end
$$;

create function alike.change("table" text, options jsonb) returns bigint language sql strict
as $$ select alike._change(alike._attachment("table"), options) $$;
comment on function alike.change(text, jsonb) is 'sketches a table under another profile beside the old, and switches when that is done';

-- Puts an attachment that is full in the place of the one it replaces.
create function alike._switch(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  old alike.attachment;
  types text[] := alike._key_types(alike._side(a), a.key_columns);
  index_name name;
begin
  select * into old from alike.attachment t where t.id = a.replaces for update;
  update alike.attachment set replaces = null, name = a.name || ' (next)' where id = a.id;
  perform alike._detach(old, '{}');
  execute format('drop view if exists %I.%I, %I.%I, %I.%I, %I.%I', a.side_schema, old.side_name || '_pair', a.side_schema, old.side_name || '_feature',
    a.side_schema, a.side_name || '_pair', a.side_schema, a.side_name || '_feature');
  execute format('drop table if exists %I.%I, %I.%I, %I.%I, %I.%I', a.side_schema, old.side_name, a.side_schema, a.side_name || '_match', a.side_schema, a.side_name || '_mark',
    a.side_schema, a.side_name || '_probe');
  execute format('alter table %I.%I rename to %I', a.side_schema, a.side_name, old.side_name);
  for index_name in
    select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = alike._side(old) and starts_with(c.relname, a.side_name) loop
    execute format('alter index %I.%I rename to %I', a.side_schema, index_name, old.side_name || substr(index_name, length(a.side_name) + 1));
  end loop;
  update alike.attachment t set name = old.name, side_name = old.side_name, indexed = true where t.id = a.id returning * into a;
  execute format('drop function %I.%I(bigint[], bytea, text, double precision)', a.side_schema, 'alike_similar_' || a.id);
  execute format('drop function %I.%I()', a.side_schema, 'alike_build_' || a.id);
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_probe_' || a.id);
  perform alike._make_tables(a, types);
  perform alike._make_builder(a);
  perform alike._make_similar(a);
  perform alike._make_forget(a);
  if a.mode = 'queue' then
    perform alike._make_enqueue(a);
  end if;
end
$$;

create function alike._detach(a alike.attachment, options jsonb) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  event text;
  rows bigint := 0;
  option text;
begin
  for option in select jsonb_object_keys(options) loop
    if option <> 'drop' or jsonb_typeof(options -> option) <> 'boolean' then
      raise exception 'alike: detach: option % is %, want {"drop": true} or {"drop": false}', option, options -> option using errcode = 'invalid_parameter_value';
    end if;
  end loop;
  if a.distributed then
    perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  elsif exists (select from pg_class where oid = a.source) then
    foreach event in array array['insert', 'update', 'delete', 'truncate', 'ask_insert', 'ask_update'] loop
      execute format('drop trigger if exists %I on %s', 'alike_' || a.id || '_' || event, a.source);
    end loop;
  end if;
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_enqueue_' || a.id);
  execute format('drop function if exists %I.%I(text[])', a.side_schema, 'alike_forget_' || a.id);
  if exists (select from alike.attachment t where t.replaces = a.id) then
    perform alike._detach(t, '{"drop": true}') from alike.attachment t where t.replaces = a.id;
  end if;
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_switch_' || a.id);
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_ask_' || a.id);
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_build_' || a.id);
  execute format('drop function if exists %I.%I()', a.side_schema, 'alike_probe_' || a.id);
  execute format('drop function if exists %I.%I(bigint[], bytea, text, double precision)', a.side_schema, 'alike_similar_' || a.id);
  delete from alike.queue where attachment = a.id;
  delete from alike.attachment where id = a.id;
  if to_regclass(format('%I.%I', a.side_schema, a.side_name)) is not null then
    execute format('select count(*) from %I.%I', a.side_schema, a.side_name) into rows;
  end if;
  if coalesce((options ->> 'drop')::boolean, false) then
    execute format('drop view if exists %I.%I, %I.%I', a.side_schema, a.side_name || '_pair', a.side_schema, a.side_name || '_feature');
    execute format('drop table if exists %I.%I, %I.%I, %I.%I, %I.%I, %I.%I', a.side_schema, a.side_name, a.side_schema, a.side_name || '_match', a.side_schema, a.side_name || '_mark',
      a.side_schema, a.side_name || '_cluster', a.side_schema, a.side_name || '_probe');
  end if;
  return rows;
end
$$;

create function alike.detach("table" text, options jsonb default '{}') returns bigint language sql strict
as $$ select alike._detach(alike._attachment("table"), options) $$;
comment on function alike.detach(text, jsonb) is 'takes the aspect away; keeps the side tables unless {"drop": true}; returns their rows';

create function alike._refresh(a alike.attachment) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  missing bigint;
begin
  execute format('select count(*) from (select * from %s%s) d where not exists (select from %I.%I s where %s and s.profile = %s)',
    a.source, ' where ' || a.row_filter, a.side_schema, a.side_name, alike._key_equal(a.key_columns, 's', 'd'), a.profile_id) into missing;
  delete from alike.chunk where attachment = a.id;
  insert into alike.backfill (attachment, rows) values (a.id, missing)
  on conflict (attachment) do update set requested_at = now(), split_at = null, finished_at = null, rows = excluded.rows, deletions = true;
  perform pg_notify('alike', a.id::text);
  return missing;
end
$$;

create function alike.refresh("table" text) returns bigint language sql strict
as $$ select alike._refresh(alike._attachment("table")) $$;
comment on function alike.refresh(text) is 'has the worker compare every row with its sketch; returns the number of rows that have none';
