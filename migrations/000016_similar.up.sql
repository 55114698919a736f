-- alike_similar_N finds the rows that resemble a document. It is written out
-- for each attachment so that its plans are kept: planning would take three
-- times as long as the answer. One scan that ORs the feature indexes finds the
-- candidates; a row of another profile waits to be sketched again, and does not
-- compare; what a person has said of a pair comes first.
--
-- With damaged sketches nothing compares; where named is true, it is an error that that of the row itself is damaged.
--
-- Where short is given, a pair of which either row has fewer than below shingles needs that
-- resemblance, which is above at_least; size is the number of shingles of a document that is no
-- row.
--
-- Where nearest is given, it answers for a policy. When more than 300 rows share a feature with
-- the document, it compares those 300 that share the most, of the first thousand rows of each
-- feature: a letterhead that very many rows have would otherwise make a checkin cost the more the
-- more of them there are. The first statement then gives a row without a key, and the second one answers.
create function alike._make_similar(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  side constant text := alike._name(a, '');
  mark constant text := alike._name(a, '_mark');
  types constant text[] := alike._key_types(side::regclass, keys);
  others constant name[] := alike._others(keys);
  family constant integer := (select (alike._parse(s.profile)).family from alike.settings s where s.id = a.profile_id);
  shared constant text := (select string_agg(format('s.f%s = features[%s]', n, n), ' or ' order by n) from generate_series(1, a.features) as n);
  -- What is known of a row s: its key, in text and as it is, and its features in common, which an
  -- entry has, too.
  known constant text := format('%s as key, %s, %%s as shared, s.sketch, s.shingles, case when s.sketch = document then 1 else coalesce(alike.resemblance(document, s.sketch), 0) end as resemblance', replace(alike._key_text(keys, 's'), '%', '%%'),
    (select string_agg(replace(format('s.%I as k%s', keys[n], n), '%', '%%'), ', ' order by n) from generate_subscripts(keys, 1) as n));
  sound constant text := alike._sound(a, 's', 'substr(document, 21, 2)');
  agree constant text := (select string_agg(format('coalesce((s.f%s = features[%s])::integer, 0)', n, n), ' + ' order by n) from generate_series(1, a.features) as n);
  passes constant text := 'f.resemblance >= at_least and (short is null or f.resemblance >= short or size >= below and f.shingles >= below) and f.key is distinct from itself and f.key <> all (distinct_keys) and f.key <> all (duplicate_keys)';
  -- Where the features are found, and the rows of what is found there.
  source constant text := alike._name(a, case when alike._in_parts(a) then '_part' else '' end);
  rows constant text := case when alike._in_parts(a) then '%s p join ' || replace(format('%s s on %s', side, alike._counts(a, 'p', 's')), '%', '%%') else '%s s' end;
  known_there constant text := format(known, case when alike._in_parts(a) then replace(agree, 's.f', 'p.f') else agree end);
  found constant text := format(
    'select * from (select %s from %s where (%s) and s.profile = %s and %s offset 0) as f where %s',
    known_there, format(rows, source), case when alike._in_parts(a) then replace(shared, 's.f', 'p.f') else shared end, a.profile_id, sound, passes);
  -- CTEs, or the planner would choose how to find the first thousand of many.
  at_first constant text := format(
    'with o as materialized (select s.* from %s s where %s), c as materialized (select * from o limit crowd)
     select * from (select %s from %s where (select count(*) from c) < crowd and s.profile = %s and %s offset 0) as f where %s
     union all select null, %s, 0, document, 0, 2 where (select count(*) from c) = crowd',
    source, shared, known_there, format(rows, 'c'), a.profile_id, sound, passes,
    (select string_agg('null::' || t, ', ' order by n) from unnest(types) with ordinality as u(t, n)));
  of_many constant text := format(
    'select * from (select %1$s from (select %2$s from (%3$s) p group by %2$s order by count(*) desc limit crowd) p cross join lateral (select s.* from %4$s s where %5$s offset 0) s
       where s.profile = %6$s and %7$s offset 0) as f
     where f.shared > 0 and %8$s',
    format(known, agree), alike._key_list(keys, 'p'),
    (select string_agg(format('(select %s from %s s where s.f%s = features[%s] limit 1000)', alike._key_list(keys, 's'), source, n, n), ' union all ' order by n) from generate_series(1, a.features) as n),
    side, alike._key_equal(keys, 's', 'p'), a.profile_id, sound, passes);
  judged constant text := format('select %s from unnest(duplicate_keys) as k(key) join %s s on %s where s.profile = %s and %s and k.key is distinct from itself and k.key <> all (distinct_keys)',
    format(known, agree), side, alike._key_is(keys, types, 's', 'k.key'), a.profile_id, sound);
  -- Bounds are for what is answered: the nearest, of a crowd.
  answer constant text := format(
    'select c.key, c.shared, c.resemblance, b.low, b.high, %s, c.total
     from (select f.*, count(*) over () as total from (%%s) as f order by f.resemblance desc, %s limit nearest) as c
     cross join lateral alike._bounds(document, c.sketch, 0.95) as b
     order by c.resemblance desc, c.shared desc, %s',
    case when family in (2, 3) then 'alike.containment(document, c.sketch)' else 'null::double precision' end,
    (select string_agg('f.k' || n, ', ' order by n) from generate_subscripts(keys, 1) as n),
    (select string_agg('c.k' || n, ', ' order by n) from generate_subscripts(keys, 1) as n));
begin
  execute format('create or replace function %s(features bigint[], document bytea, itself text, at_least double precision, nearest integer, short double precision default null, below bigint default null, size bigint default null, named boolean default false) returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision, total bigint) language plpgsql stable set search_path = pg_catalog, pg_temp set jit = off set enable_seqscan = off%s set plan_cache_mode = %s as %L',
    alike._generated(a, 'similar'), alike._spelling(a),
    -- Which node is asked depends on the key.
    case when a.distributed then 'force_custom_plan' else 'force_generic_plan' end, format($function$
declare
  given constant text := itself; -- its canonical spelling takes its place
  there boolean;
  damaged boolean;
  distinct_keys text[] := '{}';
  duplicate_keys text[] := '{}';
  crowd constant bigint := greatest(nearest, 300) + 1;
begin
  if itself is not null then
    begin
      if features is null then
        select true, array[%1$s], s.sketch, s.shingles, %12$s, %13$s into there, features, document, size, itself, damaged from %2$s s where %3$s and s.profile = %4$s;
        if there is null then
          perform alike._no_row(a, given) from alike.attachment a where a.id = %5$s;
        elsif damaged then
          document := null;
          perform alike._damaged_row(a, itself) from alike.attachment a where a.id = %5$s and named;
        end if;
      end if;
      if exists (select from %6$s) then
        -- Written by hand, a verdict may stand there the other way round, too, or be of one row.
        distinct_keys := array(select %7$s from %6$s s where s.verdict = 'distinct' and %3$s union all select %8$s from %6$s s where s.verdict = 'distinct' and %9$s);
        duplicate_keys := array(select %7$s from %6$s s where s.verdict = 'duplicate' and %3$s union select %8$s from %6$s s where s.verdict = 'duplicate' and %9$s);
      end if;
    exception
      when data_exception then
        perform alike._bad_key(a, itself, sqlerrm) from alike.attachment a where a.id = %5$s;
    end;
  end if;
  if document is null then
    return;
  elsif nearest is null or %14$L then
    if duplicate_keys = '{}' then
      return query %10$s;
    else
      return query %11$s;
    end if;
  else
    if duplicate_keys = '{}' then
      for key, shared, resemblance, low, high, containment, total in %15$s loop
        exit when key is null;
        return next;
      end loop;
      if not found or key is not null then
        return;
      end if;
    end if;
    return query %16$s;
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
    format(answer, found || ' union all ' || judged),                                           -- 11
    alike._key_text(keys, 's'),                                                                  -- 12
    alike._damaged(a, 's'),                                                                      -- 13
    a.distributed,                                                                               -- 14
    format(answer, at_first),                                                                    -- 15
    format(answer, of_many || ' union all ' || judged)));                                        -- 16
end
$$;

-- The threshold of short texts, and below how many shingles a text is short; NULL where
-- short texts need no more than others.
create function alike._short(a alike.attachment, out at_least double precision, out below bigint) language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  at_least := a.options #>> '{short,at_least}';
  below := (a.options #>> '{short,below}')::numeric;
end
$$;

-- The rows that resemble a document, given by its features, its sketch and the number of its
-- shingles; where it is a row itself, itself is its key, which is enough. For a policy only the
-- nearest, as alike_similar_N finds them.
create function alike._similar(a alike.attachment, features bigint[], document bytea, itself text, at_least double precision, size bigint, nearest integer default null)
returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  short constant record := alike._short(a);
begin
  if document is not null then -- the next condition is a query, which takes 8 µs also where there is no document
    if substr(document, 21, 2) <> (select decode(lpad(to_hex(s.tokens), 4, '0'), 'hex') from alike.settings s where s.id = a.profile_id) then
      raise exception '%', alike._other_build(a) using errcode = 'object_not_in_prerequisite_state';
    end if;
  end if;
  return query execute format('select key, shared, resemblance, low, high, containment from %s($1, $2, $3, $4, $8, $5, $6, $7, true)', alike._generated(a, 'similar'))
    using features, document, itself, at_least, short.at_least, short.below, size, nearest;
end
$$;
