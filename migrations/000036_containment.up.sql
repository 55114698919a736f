-- Containment. From each run of shingles of a document the worker keeps the shingle with the
-- smallest hash (package sketch, Passages), so a passage has the same values in every document
-- that contains it. The side table keeps the values of a row in one column. A table of values
-- beside it keeps each value in a row of its own, with an index, like Broder's sorted lists.

create function alike._contains(a alike.attachment) returns boolean language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$ begin return coalesce((a.options ->> 'contains')::boolean, false); end $$;

-- Makes the table of values, empty. alike_build_N fills it from the side table and makes its
-- index, when it makes the indexes of the side table.
create function alike._make_values(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  clash constant name := (select k from unnest(a.key_columns) as k where k in ('value', 'passages') limit 1);
begin
  if clash is not null then
    raise exception 'alike: attach: the key column "%" has the name of a column of the table of values', clash using errcode = 'duplicate_column';
  elsif a.distributed then
    raise exception 'alike: attach: contains is not for a table that is distributed among nodes' using errcode = 'feature_not_supported';
  elsif (select (alike._parse(s.profile)).stream from alike.settings s where s.id = a.profile_id) = 6 then
    raise exception 'alike: attach: the stream elements has no passages' using errcode = 'invalid_parameter_value';
  end if;
  execute format('drop table if exists %s', alike._name(a, '_value'));
  execute format('create %s table %s (value bigint not null, %s)',
    (select case relpersistence when 'u' then 'unlogged' end from pg_class where oid = alike._side(a)), alike._name(a, '_value'),
    alike._column_list(a.key_columns, alike._column_types(alike._side(a), a.key_columns)));
  execute format('comment on table %s is %L', alike._name(a, '_value'), format('Alike: values of the passages of %s.%I', a.source, a.column_name));
  -- The values are random numbers, which do not compress.
  execute format('alter table %s alter column passages set storage external', alike._name(a, ''));
end
$$;

-- The statements of alike_build_N for the values. Until they run only the side table has the
-- values.
create function alike._build_values(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select alike._fill($build$
  if not exists (select from pg_index i where i.indrelid = {value_literal}::regclass and i.indisvalid) then
    lock table {side} in share mode;
    truncate {value};
    insert into {value} (value, {keys}) select u.value, {keys_s} from {side} s cross join unnest(s.passages) as u(value) order by 1;
    create index {value_index} on {value} (value, {keys});
  end if;
  analyze {value};$build$, alike._fragments(a) || jsonb_build_object(
    'value_literal', quote_literal(alike._name(a, '_value')),
    'value_index', quote_ident(a.side_name || '_value_idx')))
$$;

-- Makes alike_values_N, the trigger function that keeps the table of values in step with the
-- side table. It runs in the statement that writes the side table, in any session.
create function alike._make_values_function(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  f constant jsonb := alike._fragments(a) || jsonb_build_object('keys_r', alike._key_list(a.key_columns, 'r'), 'same_v_g', alike._key_equal(a.key_columns, 'v', 'g'),
    'value_literal', quote_literal(alike._name(a, '_value')));
  event text;
begin
  execute format('create or replace function %s() returns trigger language plpgsql set search_path = pg_catalog, pg_temp set jit = off as %L', alike._generated(a, 'values'), alike._fill($function$
begin
  if not exists (select from pg_index i where i.indrelid = {value_literal}::regclass) then
    return null; -- alike_build_N fills it
  elsif tg_op = 'INSERT' then
    insert into {value} (value, {keys}) select u.value, {keys_r} from alike_new r cross join unnest(r.passages) as u(value);
  elsif tg_op = 'DELETE' then
    delete from {value} v using (select u.value, {keys_r} from alike_old r cross join unnest(r.passages) as u(value)) g where v.value = g.value and {same_v_g};
  elsif tg_op = 'UPDATE' then
    delete from {value} v
    using (select u.value, {keys_r} from alike_old r cross join unnest(r.passages) as u(value)
           except select u.value, {keys_r} from alike_new r cross join unnest(r.passages) as u(value)) g
    where v.value = g.value and {same_v_g};
    insert into {value} (value, {keys})
    select u.value, {keys_r} from alike_new r cross join unnest(r.passages) as u(value)
    except select u.value, {keys_r} from alike_old r cross join unnest(r.passages) as u(value);
  else
    truncate {value};
  end if;
  return null;
end
$function$, f));
  execute format('revoke all on function %s() from public', alike._generated(a, 'values'));
  perform alike._drop_side_triggers(a, 'values');
  foreach event in array array['insert', 'update', 'delete', 'truncate'] loop
    execute format('create trigger %I after %s on %s%s for each statement execute function %s()', 'alike_values_' || event, event, alike._name(a, ''),
      case event when 'update' then ' referencing old table as alike_old new table as alike_new' when 'insert' then ' referencing new table as alike_new'
        when 'delete' then ' referencing old table as alike_old' else '' end,
      alike._generated(a, 'values'));
  end loop;
end
$$;

-- Drops the triggers of one kind (values or parts) from the side table, which stays.
create function alike._drop_side_triggers(a alike.attachment, kind text) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  trigger_name name;
begin
  for trigger_name in select t.tgname from pg_trigger t where t.tgrelid = alike._side(a) and t.tgname ^@ ('alike_' || kind || '_') loop
    execute format('drop trigger %I on %s', trigger_name, alike._name(a, ''));
  end loop;
end
$$;

-- The number of tokens in the shortest passage that is found for certain.
create function alike._passage_run(p alike.profile_fields) returns integer language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select case p.stream when 0 then 60 when 2 then 8 else 20 end $$;

-- The number of tokens in a shingle of passages, as Profile.Passages computes it.
create function alike._passage_width(p alike.profile_fields) returns integer language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select greatest(least(p.w, alike._passage_run(p) / 2), case p.stream when 0 then 12 when 2 then 1 else 5 end) $$;

-- How many of the lowest bits are zero in each value of a document with this many shingles.
create function alike._coarseness(run integer, shingles bigint) returns integer language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select length(ltrim((2 * shingles / (run + 1) / 65536)::bit(64)::text, '0')) $$;

-- Converts a document's number of shingles under the profile into its number of shingles of
-- passages, and says how many of the lowest bits are zero in each of its values (0 unless the
-- document is long).
create function alike._passage_shingles(p alike.profile_fields, shingles bigint, out passages bigint, out coarseness integer) language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select n, alike._coarseness(alike._passage_run(p) - q.w + 1, n)
  from (select alike._passage_width(p) as w) q
  cross join lateral (select case when shingles = 0 then 0 else greatest(1, shingles + p.w - q.w) end as n) s
$$;

-- The arithmetic of PlanPassages in package sketch, in its order.
create function alike.contains_plan(tokens double precision, profile text default '', key_bytes integer default 4)
returns table (passage integer, sampled double precision, sqlite_bytes bigint, postgres_bytes bigint)
language plpgsql immutable strict parallel safe
rows 1
set search_path = pg_catalog, pg_temp
as $$
declare
  p constant alike.profile_fields := alike._parse(profile);
  run constant integer := alike._passage_run(p) - alike._passage_width(p) + 1;
  shingles double precision;
begin
  if p.stream = 6 then
    raise exception 'sketch: the stream elements has no passages' using errcode = 'invalid_parameter_value';
  elsif not (tokens >= 0 and tokens <= 1e9) then
    raise exception 'sketch: plan: a document of % tokens, want 0 to 1000000000', tokens using errcode = 'invalid_parameter_value';
  elsif key_bytes not between 1 and 1000 then
    raise exception 'sketch: plan: a key of % bytes, want 1 to 1000', key_bytes using errcode = 'invalid_parameter_value';
  end if;
  passage := alike._passage_run(p);
  shingles := greatest(1, tokens - (passage - run));
  sampled := case when tokens = 0 then 0
    else (1 + 2 * greatest(0, shingles - run) / (run + 1)) / (1::bigint << alike._coarseness(run, floor(shingles)::bigint))::double precision end;
  sqlite_bytes := floor(sampled * (2 * (14 + key_bytes)::double precision * 1.08::double precision) + 0.5::double precision);
  postgres_bytes := floor(sampled * ((39 + key_bytes) / 8 * 8 + 4 + ((23 + key_bytes) / 8 * 8 + 4) / 0.75::double precision + 8.5::double precision)
    + case when tokens = 0 then 0 else 24 end + 0.5::double precision);
  return next;
end
$$;
comment on function alike.contains_plan(double precision, text, integer) is
  'what the option contains will keep of a document with a number of tokens: the shortest passage that it finds, the number of values, their bytes in either engine';

-- The smallest number of a row's n values that a document containing the row shares. With fewer
-- shared values even the upper bound of the containment is below at_least.
create function alike._min_shared(n bigint, at_least double precision) returns bigint language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select greatest(1, ceil(n * at_least - 3 * sqrt(n * at_least * (1 - at_least)) - 3))::bigint $$;

-- Tells whether the upper bound for matches of n values reaches at_least.
create function alike._may_hold(matches integer, n integer, at_least double precision) returns boolean language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select matches >= n * at_least or at_least < 1 and matches < n and alike._binomial(n, 0, matches, at_least) >= 0.025 $$;

-- Returns the limit of a question on containment. It is an error when the limit is out of
-- range or the attachment cannot answer the question.
create function alike._containment_limit(a alike.attachment, at_least double precision) returns double precision language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  a.at_least := 0.8;
  at_least := alike._limit(a, at_least);
  if not alike._contains(a) then
    raise exception 'alike: % keeps no values for questions on containment', a.name using errcode = 'object_not_in_prerequisite_state',
      hint = format('select alike.attach(%L, %L, ''{"contains": true}'') adds them.', a.source, alike._current_document(a));
  elsif not a.indexed then
    raise exception 'alike: the side table of % is being filled', a.name using errcode = 'object_not_in_prerequisite_state',
      hint = 'select * from alike.status() shows how far it is.';
  end if;
  return at_least;
end
$$;

-- alike_holding_N finds the rows that contain a document or, with reverse, are contained in
-- it, best first, judged by their values. itself is the document's key when it is a row, which
-- is enough. With open the answer has all rows whose bounds reach at_least, for a caller that
-- reads their documents. A row shares at least one of its rarest values with each row that
-- contains it. Only the rarest values are looked up, so a passage that thousands of rows share
-- costs nothing for each of them. A document of millions of words has coarser values alone; it is
-- looked for by those that no more than 200 rows have. With max_each, for a checkin, the answer is
-- found among that many rows of each value, the first by their keys. Like alike_similar_N it is
-- written out so that its plans are kept: planning would take many times as long as the answer.
create function alike._make_holding(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  p constant alike.profile_fields := alike._parse(s.profile) from alike.settings s where s.id = a.profile_id;
  types constant text[] := alike._key_types(alike._side(a), a.key_columns);
  others constant name[] := alike._others(a.key_columns);
  candidates text;
  reverse boolean;
  checkin boolean;
  answers text[];
begin
  for checkin, reverse in values (false, false), (false, true), (true, false), (true, true) loop
    if checkin then
      candidates := 'select distinct {keys_v}, null::integer as matches from unnest(given) as u(value)
        cross join lateral (select {keys_v} from {value} v where v.value = u.value order by v.value, {keys_v} limit max_each) v';
    elsif reverse then
      candidates := 'select {keys_v}, count(*)::integer as matches from unnest(given) as u(value) join {value} v on v.value = u.value group by {keys_v}';
    else
      candidates := 'with rare as materialized (
          select distinct q.value
          from (select l, n.value, n.rows, row_number() over (partition by l order by n.rows, n.value) as place, count(*) over (partition by l) as n
                from (select u.value, (select count(*) from (select from {value} v where v.value = u.value limit 201) x) as rows from unnest(given) as u(value) offset 0) n
                cross join lateral generate_series(coarse, 10) as l
                where n.value & ((1 << l) - 1) = 0) q
          where q.place <= q.n - case when open then alike._min_shared(q.n, at_least) else ceil(q.n * at_least)::bigint end + 1 and (q.rows <= 200 or q.l = coarse))
        select distinct {keys_v}, null::integer as matches from rare u join {value} v on v.value = u.value';
    end if;
    answers := answers || alike._fill(
      'return query with answer as materialized (
         select row_number() over (order by least(h.matches, h.n) / h.n::double precision desc, {keys_h}) as place, h.alike_key, least(h.matches, h.n) as matches, h.n
         from (
           select {text_s} as alike_key,
             coalesce(v.matches, (select count(*)::integer from (select unnest(given) intersect select unnest(s.passages)) x)) as matches,
             case when {finer} then cardinality({part})
               else (select count(*)::integer from unnest({part}) as u(value) where u.value & ((1 << greatest(coarse, c.coarseness)) - 1) = 0) end as n,
             {keys_s}
           from (' || candidates || ') v
           join {side} s on {same_v}
           cross join lateral (select case when s.shingles < 100000 then 0 else (alike._passage_shingles(p, s.shingles)).coarseness end as coarseness) c
           where s.profile = {profile_id} offset 0) h
         where h.n > 0 and h.alike_key <> all (not_these) and case when open then alike._may_hold(least(h.matches, h.n), h.n, at_least) else h.matches >= h.n * at_least end
         order by 1 limit at_most),
       bound as materialized (
         select b.*, alike._lower(b.n, b.matches, 0.95) as low, 1 - alike._lower(b.n, b.n - b.matches, 0.95) as high from (select distinct w.n, w.matches from answer w) b)
       select k.alike_key, k.matches / k.n::double precision, b.low, b.high from answer k join bound b on b.n = k.n and b.matches = k.matches order by k.place;',
      alike._fragments(a) || jsonb_build_object('keys_v', alike._key_list(a.key_columns, 'v'), 'keys_h', alike._key_list(a.key_columns, 'h'), 'same_v', alike._key_equal(a.key_columns, 's', 'v'),
        'finer', case when reverse then 'coarse <= c.coarseness' else 'coarse >= c.coarseness' end, 'part', case when reverse then 's.passages' else 'given' end));
  end loop;
  execute format('create or replace function %s(given bigint[], given_shingles bigint, itself text, reverse boolean, at_least double precision, open boolean, at_most integer, max_each integer) returns table (key text, containment double precision, low double precision, high double precision) language plpgsql stable set search_path = pg_catalog, pg_temp set jit = off set enable_seqscan = off%s set plan_cache_mode = force_generic_plan as %L',
    alike._generated(a, 'holding'), alike._spelling(a), alike._fill($function$
declare
  p constant alike.profile_fields := {profile};
  asked constant text := itself; -- its canonical spelling takes its place
  coarse integer;
  not_these text[] := '{}';
begin
  if itself is not null then
    begin
      itself := null;
      select s.passages, s.shingles, {text_s} into given, given_shingles, itself from {side} s where {is_asked} and s.profile = {profile_id};
      if itself is null then
        perform alike._no_row(t, asked) from alike.attachment t where t.id = {id};
      end if;
      if exists (select from {mark}) then
        not_these := array(select {text_others} from {mark} s where s.verdict = 'distinct' and {is_s} union all select {text_s} from {mark} s where s.verdict = 'distinct' and {is_other});
      end if;
    exception
      when data_exception then
        perform alike._bad_key(t, asked, sqlerrm) from alike.attachment t where t.id = {id};
    end;
    not_these := not_these || itself;
  end if;
  if given is null or given = '{}' then
    return;
  end if;
  coarse := (alike._passage_shingles(p, given_shingles)).coarseness;
  if max_each is null and reverse then
    {contained}
  elsif max_each is null then
    {containers}
  elsif reverse then
    {first_contained}
  else
    {first_containers}
  end if;
end
$function$, alike._fragments(a) || jsonb_build_object(
      'profile', quote_literal(p::text) || '::alike.profile_fields',
      'is_asked', alike._key_is(a.key_columns, types, 's', 'asked'),
      'is_s', alike._key_is(a.key_columns, types, 's', 'itself'),
      'is_other', alike._key_is(others, types, 's', 'itself'),
      'text_others', alike._key_text(others, 's'),
      'containers', answers[1], 'contained', answers[2], 'first_containers', answers[3], 'first_contained', answers[4])));
end
$$;

create function alike._holding(a alike.attachment, given bigint[], given_shingles bigint, itself text, reverse boolean, at_least double precision, open boolean, at_most integer, max_each integer default null)
returns table (key text, containment double precision, low double precision, high double precision)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute format('select * from %s($1, $2, $3, $4, $5, $6, $7, $8)', alike._generated(a, 'holding')) using given, given_shingles, itself, reverse, at_least, open, at_most, max_each;
end
$$;

create function alike._holding_row(a alike.attachment, given text, reverse boolean, at_least double precision, open boolean, at_most integer)
returns table (key text, containment double precision, low double precision, high double precision)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform alike._check_key(a, given);
  return query select * from alike._holding(a, null, null, given, reverse, alike._containment_limit(a, at_least), open, at_most);
end
$$;

create function alike.containers("table" text, given text, at_least double precision default 'NaN', at_most integer default 2147483647)
returns table (key text, containment double precision, low double precision, high double precision)
language sql stable
as $$
  select * from alike._holding_row(alike._attachment("table"), given, false, at_least, false, at_most)
  where "table" is not null and given is not null and at_least is not null and at_most is not null
$$;
comment on function alike.containers(text, text, double precision, integer) is 'the rows that contain a row, best first, from 0.8 of it unless given';

create function alike.containers("table" text, given anycompatible, at_least double precision default 'NaN', at_most integer default 2147483647)
returns table (key text, containment double precision, low double precision, high double precision)
language sql stable
as $$ select * from alike.containers("table", alike._typed_key(given), at_least, at_most) $$;
comment on function alike.containers(text, anycompatible, double precision, integer) is 'the rows that contain a row, whose key is given by its type, best first';

create function alike.contained("table" text, given text, at_least double precision default 'NaN', at_most integer default 2147483647)
returns table (key text, containment double precision, low double precision, high double precision)
language sql stable
as $$
  select * from alike._holding_row(alike._attachment("table"), given, true, at_least, false, at_most)
  where "table" is not null and given is not null and at_least is not null and at_most is not null
$$;
comment on function alike.contained(text, text, double precision, integer) is 'the rows that a row contains, best first, from 0.8 of each unless given';

create function alike.contained("table" text, given anycompatible, at_least double precision default 'NaN', at_most integer default 2147483647)
returns table (key text, containment double precision, low double precision, high double precision)
language sql stable
as $$ select * from alike.contained("table", alike._typed_key(given), at_least, at_most) $$;
comment on function alike.contained(text, anycompatible, double precision, integer) is 'the rows that a row, whose key is given by its type, contains, best first';

create function alike._holding_text(a alike.attachment, document text, reverse boolean, at_least double precision, at_most integer)
returns table (key text, containment double precision, low double precision, high double precision)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  threshold constant double precision := alike._containment_limit(a, at_least);
  asked constant jsonb := (alike._question('passages', a.id::text, array[document]))[1] -> 0;
begin
  return query select * from alike._holding(a, array(select v::bigint from jsonb_array_elements_text(asked -> 'values') as v), (asked ->> 'shingles')::bigint, null, reverse, threshold, false, at_most);
end
$$;

create function alike.containers_like("table" text, document text, at_least double precision default 'NaN', at_most integer default 2147483647)
returns table (key text, containment double precision, low double precision, high double precision)
language sql stable
as $$
  select * from alike._holding_text(alike._attachment("table"), document, false, at_least, at_most)
  where "table" is not null and document is not null and at_least is not null and at_most is not null
$$;
comment on function alike.containers_like(text, text, double precision, integer) is 'the rows that contain a text that is not in the table, best first; a worker reads it';

create function alike.contained_like("table" text, document text, at_least double precision default 'NaN', at_most integer default 2147483647)
returns table (key text, containment double precision, low double precision, high double precision)
language sql stable
as $$
  select * from alike._holding_text(alike._attachment("table"), document, true, at_least, at_most)
  where "table" is not null and document is not null and at_least is not null and at_most is not null
$$;
comment on function alike.contained_like(text, text, double precision, integer) is 'the rows that are contained in a text that is not in the table, best first; a worker reads it';

-- Whether the policy acts on containment and not on resemblance, and from which on.
create function alike._by_containment(a alike.attachment) returns boolean language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select coalesce(a.options ->> 'by' = 'containment', false) $$;

create function alike._min_held(a alike.attachment) returns double precision language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select coalesce((a.options ->> 'at_least')::double precision, 0.8) $$;

-- The rows that contain rows and those that they contain: all whose bounds reach the limit of
-- the policy, among the first 200 that share each value. relation is that of key to other; place counts from the best of a key.
create function alike._held(a alike.attachment, given text[])
returns table (key text, other text, shared integer, containment double precision, low double precision, high double precision, relation text, place bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off -- the planner expects a thousand rows
as $$
declare
  types constant text[] := alike._key_types(alike._side(a), a.key_columns);
begin
  if not a.indexed then
    return; -- the worker comes back to these rows when the side table is full
  end if;
  return query execute alike._fill(
    'select h.key, h.other, {shared}, h.containment, h.low, h.high, h.relation, row_number() over (partition by h.key order by h.containment desc, h.relation, h.n)
     from (
       select g.key, r.key as other, r.containment, r.low, r.high, w.relation, r.n
       from unnest($1) as g(key)
       cross join (values (''contained'', false), (''contains'', true)) as w(relation, reverse)
       cross join lateral {holding}(null::bigint[], null::bigint, g.key, w.reverse, $2, true, 2147483647, 200) with ordinality as r(key, containment, low, high, n)) h
     join {side} x on {is_x}
     join {side} y on {is_y}',
    alike._fragments(a) || jsonb_build_object('holding', alike._generated(a, 'holding'),
      'is_x', alike._key_is(a.key_columns, types, 'x', 'h.key'), 'is_y', alike._key_is(a.key_columns, types, 'y', 'h.other'),
      'shared', (select string_agg(format('coalesce((x.f%s = y.f%1$s)::integer, 0)', n), ' + ') from generate_series(1, a.features) as n)))
  using given, alike._min_held(a);
end
$$;

-- Judges a document by the values of its passages, as alike._gate does by a sketch. Two
-- checkins with such a policy wait for each other: an excerpt may share one value alone with
-- its book, and a lock for each value of a book would be too many.
create function alike._gate_values(a alike.attachment, given bigint[], given_shingles bigint, sketch bytea, itself text) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  p constant alike.profile_fields := alike._parse(s.profile) from alike.settings s where s.id = a.profile_id;
  at_least constant double precision := alike._min_held(a);
  not_these text[] := '{}';
  best record;
begin
  if coalesce(given, '{}') = '{}' then
    return;
  end if;
  perform alike._check_gate();
  if itself is not null then
    itself := alike._spelled(a, itself);
    not_these := alike._distinct_from(a, itself) || itself;
  end if;
  perform pg_advisory_xact_lock(hashtext('alike by containment'), a.id);
  select * into best from (
    select h.key, h.containment, w.relation
    from (values ('contained', false), ('contains', true)) as w(relation, reverse)
    cross join lateral alike._holding(a, given, given_shingles, null, w.reverse, at_least, false, 2147483647, 200) h
    where h.containment >= at_least and h.key <> all (not_these)
    union all
    select '', least(n.matches, n.part) / n.part::double precision, n.relation
    from alike.admitted m
    cross join lateral (
      select greatest((alike._passage_shingles(p, given_shingles)).coarseness, (alike._passage_shingles(p, m.shingles)).coarseness) as coarse) c
    cross join lateral (
      select count(*) filter (where u.value = any (m.features)) as matches, count(*) as part from unnest(given) as u(value) where u.value & ((1 << c.coarse) - 1) = 0) x
    cross join lateral (select count(*) as part from unnest(m.features) as u(value) where u.value & ((1 << c.coarse) - 1) = 0) y
    cross join lateral (values ('contained', x.matches, x.part), ('contains', x.matches, y.part)) as n(relation, matches, part)
    where m.attachment = a.id and m.shingles is not null and m.features && given and n.part > 0 and least(n.matches, n.part) >= n.part * at_least
      and (_gate_values.itself is null or m.itself is null or m.itself <> all (not_these))) q
  order by q.key = '', q.containment desc, q.relation
  limit 1;
  if best.key is not null then
    raise exception 'alike: the document % % (containment %, rejected from %)', case best.relation when 'contained' then 'is contained in' else 'contains' end,
      case best.key when '' then 'a document that was checked in a moment ago' else format('row %s of %s', best.key, a.name) end,
      round(best.containment::numeric, 3), round(at_least::numeric, 3)
      using errcode = 'integrity_constraint_violation', detail = json_build_object('key', nullif(best.key, ''), 'containment', best.containment, 'relation', best.relation)::text;
  end if;
  insert into alike.admitted (attachment, features, sketch, itself, shingles) values (a.id, given, _gate_values.sketch, _gate_values.itself, given_shingles);
end
$$;

-- Every pair in which key is contained in other. Each row is compared with the rows that have
-- one of its rarest values, as in alike._holding.
create function alike._containments(a alike.attachment, at_least double precision, open boolean, at_most integer)
returns table (key text, other text, containment double precision, low double precision, high double precision)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
set jit = off
as $$
declare
  p constant alike.profile_fields := alike._parse(s.profile) from alike.settings s where s.id = a.profile_id;
  others constant name[] := alike._others(a.key_columns);
  coarsest integer;
begin
  execute format('select (alike._passage_shingles($1, max(s.shingles))).coarseness from %s s', alike._name(a, '')) into coarsest using p;
  return query execute alike._fill(
    'with frequency as materialized (select v.value, count(*) as rows from {value} v group by v.value having count(*) > 1),
     rare as materialized (
       select distinct {keys_q}, q.value
       from (select {keys_s}, u.value, f.rows, row_number() over (partition by {keys_s}, l order by coalesce(f.rows, 1), u.value) as place, count(*) over (partition by {keys_s}, l) as n
             from {side} s
             cross join lateral generate_series(case when s.shingles < 100000 then 0 else (alike._passage_shingles($1, s.shingles)).coarseness end, $2) as l
             cross join unnest(s.passages) as u(value)
             left join frequency f on f.value = u.value
             where s.profile = {profile_id} and u.value & ((1 << l) - 1) = 0) q
       where q.rows is not null and q.place <= q.n - case when $4 then alike._min_shared(q.n, $3) else ceil(q.n * $3)::bigint end + 1),
     candidate as materialized (
       select distinct {keys_r}, {others_v} from rare r join {value} v on v.value = r.value where not ({same_r_v})),
     answer as materialized (
       select row_number() over (order by least(h.matches, h.n) / h.n::double precision desc, {keys_h}, {others_h}) as place, h.alike_key as key, h.alike_other as other, least(h.matches, h.n) as matches, h.n
       from (
         select {text_x} as alike_key, {text_y} as alike_other,
           (select count(*)::integer from (select unnest(x.passages) intersect select unnest(y.passages)) i) as matches,
           case when y.shingles < 100000 then cardinality(x.passages) else (select count(*)::integer from unnest(x.passages) as u(value)
             where u.value & ((1 << greatest((alike._passage_shingles($1, x.shingles)).coarseness, (alike._passage_shingles($1, y.shingles)).coarseness)) - 1) = 0) end as n,
           {keys_x}, {others_y}
         from candidate c
         join {side} x on {same_x}
         join {side} y on {same_y}
         where y.profile = {profile_id} and not exists (select from {mark} m where m.verdict = ''distinct'' and ({same_mark} or {same_mark_reverse})) offset 0) h
       where h.n > 0 and case when $4 then alike._may_hold(least(h.matches, h.n), h.n, $3) else h.matches >= h.n * $3 end
       order by 1 limit $5),
     bound as materialized (
       select b.*, alike._lower(b.n, b.matches, 0.95) as low, 1 - alike._lower(b.n, b.n - b.matches, 0.95) as high from (select distinct n, matches from answer) b)
     select k.key, k.other, k.matches / k.n::double precision, b.low, b.high from answer k join bound b on b.n = k.n and b.matches = k.matches order by k.place',
    alike._fragments(a) || jsonb_build_object(
      'keys_q', alike._key_list(a.key_columns, 'q'), 'keys_r', alike._key_list(a.key_columns, 'r'), 'keys_h', alike._key_list(a.key_columns, 'h'), 'keys_x', alike._key_list(a.key_columns, 'x'),
      'others_h', alike._key_list(others, 'h'),
      'others_v', (select string_agg(format('v.%I as %I', k, others[n]), ', ' order by n) from unnest(a.key_columns) with ordinality as u(k, n)),
      'others_y', (select string_agg(format('y.%I as %I', k, others[n]), ', ' order by n) from unnest(a.key_columns) with ordinality as u(k, n)),
      'same_r_v', alike._key_equal(a.key_columns, 'r', 'v'),
      'text_x', alike._key_text(a.key_columns, 'x'), 'text_y', alike._key_text(a.key_columns, 'y'),
      'same_x', alike._key_equal(a.key_columns, 'x', 'c'), 'same_y', alike._key_equal(others, 'c', 'y', a.key_columns))
    || jsonb_build_object(
      'same_mark', alike._key_equal(a.key_columns, 'm', 'c') || ' and ' || alike._key_equal(others, 'm', 'c'),
      'same_mark_reverse', alike._key_equal(a.key_columns, 'm', 'c', others) || ' and ' || alike._key_equal(others, 'm', 'c', a.key_columns)))
  using p, coarsest, at_least, open, at_most;
end
$$;

create function alike.containments("table" text, at_least double precision default 'NaN', at_most integer default 2147483647)
returns table (key text, other text, containment double precision, low double precision, high double precision)
language sql stable
as $$
  select * from alike._containments(alike._attachment("table"), alike._containment_limit(alike._attachment("table"), at_least), false, at_most)
  where "table" is not null and at_least is not null and at_most is not null
$$;
comment on function alike.containments(text, double precision, integer) is 'every pair in which the row key is contained in the row other, best first, from 0.8 of it unless given';

-- How much of the documents of rows is in those of others, by their places among the given rows
-- and computed by a worker; NULL where a document cannot be read or has no words.
create function alike._exact_containments(profile text, reading text, given text[], parts integer[], holders integer[]) returns double precision[] language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  texts text[];
begin
  if parts = '{}' then
    return '{}';
  end if;
  execute reading into texts using given;
  return array(select r.ratio::double precision
    from jsonb_array_elements_text((alike._question('containments_exact', jsonb_build_object('profile', profile, 'parts', parts, 'holders', holders)::text, texts))[1])
      with ordinality as r(ratio, n) order by r.n);
end
$$;

-- Each row with the row that stands for it, under the rule contains: a row goes only when a
-- kept row contains it. The longest rows are kept first. A worker reads the documents and says
-- how much of the row is in the other; what cannot be read stays. If no worker can be asked,
-- the values decide, and where they leave a pair open the row stays. Workers are asked about
-- many pairs at once, so that a thousand rows take a few questions.
create function alike._keep_containing(a alike.attachment, at_least double precision)
returns table (key text, kept text, resemblance double precision)
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  threshold constant double precision := alike._containment_limit(a, at_least);
  profile constant text := s.profile from alike.settings s where s.id = a.profile_id;
  asks constant boolean := a.extract is null and exists (select from pg_foreign_server where srvname = 'alike_ask') and exists (select from pg_extension where extname = 'dblink');
  names text[];
  sizes bigint[]; -- in shingles
  gone integer[];
  ratios double precision[];
  pair record;
  member record;
  parts integer[] := '{}'; -- pairs to ask about
  holders integer[] := '{}';
  rows_asked integer[] := '{}'; -- the rows of these pairs
  size bigint := 0;
  known double precision[];
  reading text;
begin
  a.mode := 'scan'; -- without the versions of the rows
  reading := format('select array_agg(coalesce(alike._text_of(q.d), '''') order by k.n) from unnest($1) with ordinality as k(key, n)
      left join lateral (select %s as d from (%s) d join %s s on %s and s.content_hash = %s where %s and octet_length(d.alike_document) <= 16777216) q on true',
    case when alike._base_type(t.atttypid) = 'bytea'::regtype then 'd.alike_document' else 'convert_to(d.alike_document, ''UTF8'')' end,
    alike._rows_of(a), alike._name(a, ''), alike._key_equal(a.key_columns, 's', 'd'), alike._hash_of(a), alike._key_is(a.key_columns, alike._key_types(alike._side(a), a.key_columns), 'd', 'k.key'))
  from pg_attribute t where t.attrelid = a.source and t.attname = alike._current_document(a);
  execute format('select array_agg(q.key order by q.shingles desc, q.n), array_agg(q.shingles order by q.shingles desc, q.n) from (select %s as key, s.shingles, row_number() over (order by %s) as n from %s s where s.passages is not null) q',
    alike._key_text(a.key_columns, 's'), alike._key_list(a.key_columns, 's'), alike._name(a, '')) into names, sizes;
  gone := array_fill(null::integer, array[coalesce(cardinality(names), 0)]);
  ratios := array_fill(null::double precision, array[coalesce(cardinality(names), 0)]);
  for pair in
    select x.n as part, y.n as holder, c.containment, c.low
    from alike._containments(a, threshold, asks, 2147483647) c
    join unnest(names) with ordinality as x(name, n) on x.name = c.key
    join unnest(names) with ordinality as y(name, n) on y.name = c.other
    where y.n < x.n
    union all
    select null, null, null, null -- the end
    order by 1, 3 desc, 2
  loop
    if not asks then
      if gone[pair.part] is null and gone[pair.holder] is null and pair.low >= threshold then
        gone[pair.part] := pair.holder;
        ratios[pair.part] := pair.containment;
      end if;
      continue;
    elsif pair.part is not null then
      continue when gone[pair.part] is not null or gone[pair.holder] is not null;
      parts := parts || pair.part::integer;
      holders := holders || pair.holder::integer;
      for member in select u.n from unnest(array[pair.part::integer, pair.holder::integer]) as u(n) where u.n <> all (rows_asked) loop
        rows_asked := rows_asked || member.n;
        size := size + sizes[member.n];
      end loop;
      continue when cardinality(parts) < 200 and size < 500000;
    end if;
    known := alike._exact_containments(profile, reading, array(select names[u.n] from unnest(rows_asked) with ordinality as u(n, place) order by u.place),
      array(select array_position(rows_asked, u.n) - 1 from unnest(parts) with ordinality as u(n, place) order by u.place),
      array(select array_position(rows_asked, u.n) - 1 from unnest(holders) with ordinality as u(n, place) order by u.place));
    for i in 1 .. cardinality(parts) loop
      if gone[parts[i]] is null and gone[holders[i]] is null and known[i] >= threshold then
        gone[parts[i]] := holders[i];
        ratios[parts[i]] := known[i];
      end if;
    end loop;
    parts := '{}';
    holders := '{}';
    rows_asked := '{}';
    size := 0;
  end loop;
  return query execute format(
    'select d.key, coalesce(k.kept, d.key), coalesce(k.ratio, case when d.sketched then 1 end)
     from (select %s as key, s.sketch is not null as sketched from (%s) d left join %s s on %s) d
     left join (select $1[u.n] as key, $1[u.gone] as kept, u.ratio from unnest($2, $3) with ordinality as u(gone, ratio, n) where u.gone is not null) k on k.key = d.key',
    alike._key_text(a.key_columns, 'd'), alike._rows_of(a), alike._name(a, ''), alike._key_equal(a.key_columns, 's', 'd'))
  using names, gone, ratios;
end
$$;
