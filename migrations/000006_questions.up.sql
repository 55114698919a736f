-- The questions. Candidates share a feature, answers are estimated from the
-- sketches, and people's verdicts come before both.

-- The limit of a question, checked. NaN is the attachment's own: NULL is not,
-- since every function of these gives nothing when it is given NULL.
create function alike._limit(a alike.attachment, at_least double precision) returns double precision language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  at_least := coalesce(nullif(at_least, 'NaN'), a.at_least);
  if not (at_least between 0 and 1) then
    raise exception 'alike: at_least %, want 0 to 1', at_least using errcode = 'invalid_parameter_value';
  end if;
  return at_least;
end
$$;

-- The rows that resemble a document, given by its features and sketch; where
-- it is a row itself, itself is its key, which is enough.
create function alike._similar(a alike.attachment, features bigint[], document bytea, itself text, at_least double precision)
returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute format('select * from %I.%I($1, $2, $3, $4)', a.side_schema, 'alike_similar_' || a.id)
    using features, document, itself, at_least;
end
$$;

create function alike._rows(a alike.attachment, given text, at_least double precision)
returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select * from alike._similar(a, null, null, given, alike._limit(a, at_least));
end
$$;

create function alike.rows("table" text, given text, at_least double precision default 'NaN')
returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision)
language sql stable
as $$ select * from alike._rows(alike._attachment("table"), given, at_least) where "table" is not null and given is not null and at_least is not null $$;
comment on function alike.rows(text, text, double precision) is 'the rows that resemble a row, best first';

create function alike._si_rows(a alike.attachment, variant text, given text, fraction double precision)
returns table (key text, si bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  spelling constant text := alike._variant(variant, 4096);
  si_column constant text := alike._si_column(spelling);
  types constant text[] := alike._key_types(alike._side(a), a.key_columns);
  itself constant text := alike._key_is(a.key_columns, types, 's', '$1');
  low double precision;
  high double precision;
  own bigint;
  there boolean;
  wanted text;
  nearest text;
begin
  if spelling <> all (a.variants) then
    raise exception 'alike: % has no similarity index %, it has %', a.name, spelling, coalesce(nullif(array_to_string(a.variants, ', '), ''), 'none')
      using errcode = 'undefined_column', hint = 'attach takes {"si": ["' || spelling || '"]}.';
  elsif spelling ~ '^forest' and fraction <> 'NaN' then
    raise exception 'alike: si_rows: % has depths instead of a fraction; leave it out', spelling using errcode = 'invalid_parameter_value';
  elsif fraction < 0 then
    raise exception 'alike: si_rows: fraction %, want 0 or more', fraction using errcode = 'invalid_parameter_value';
  end if;
  begin
    execute format('select true, s.%I from %I.%I s where %s', si_column, a.side_schema, a.side_name, itself) into there, own using given;
  exception
    when data_exception then
      perform alike._bad_key(a, given, sqlerrm);
  end;
  if there is null then
    perform alike._no_row(a, given);
  end if;
  if own is null then
    return;
  end if;
  if spelling ~ '^forest' then
    -- The rows that agree in the first byte, those that agree in more first.
    wanted := format('s.%I between %s and %s', si_column, own & -72057594037927936, own | 72057594037927935);
    nearest := format('si # (%s)', own);
  else
    -- The open range of doubles is one of whole numbers, which the index knows.
    fraction := coalesce(nullif(fraction, 'NaN'), 0.3);
    low := alike.si_low(own, fraction);
    high := alike.si_high(own, fraction);
    wanted := format('s.%1$I between %2$s and %3$s and s.%1$I::double precision > %4$L::double precision and s.%1$I::double precision < %5$L::double precision',
      si_column, alike._clamp(floor(low)), alike._clamp(ceil(high)), low, high);
    nearest := format('abs(si::numeric - (%s)), si', own);
  end if;
  return query execute format(
    'select key, si from (select %s as key, s.%I as si, %s from %I.%I s where %s and not (%s)) r order by %s, %s',
    alike._key_text(a.key_columns, 's'), si_column,
    (select string_agg(format('s.%I as k%s', a.key_columns[n], n), ', ' order by n) from generate_subscripts(a.key_columns, 1) as n),
    a.side_schema, a.side_name, wanted, itself, nearest,
    (select string_agg('k' || n, ', ' order by n) from generate_subscripts(a.key_columns, 1) as n))
  using given;
end
$$;

-- The nearest bigint, as a constant of SQL.
create function alike._clamp(x double precision) returns text language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when x >= 9223372036854775807 then '9223372036854775807'
    when x <= -9223372036854775808 then '(-9223372036854775808)'
    else '(' || x::bigint || ')'
  end
$$;

create function alike.si_rows("table" text, variant text, given text, fraction double precision default 'NaN')
returns table (key text, si bigint)
language sql stable
as $$
  select * from alike._si_rows(alike._attachment("table"), variant, given, fraction)
  where "table" is not null and variant is not null and given is not null and fraction is not null
$$;
comment on function alike.si_rows(text, text, text, double precision) is 'the rows whose similarity index lies in the range around that of a row: 0.3 of it on either side unless given, or for forest/i those that agree in its first byte';


-- A value of every key column in an order of its own: for ORDER BY over keys
-- as text.
create function alike._key_order(a alike.attachment, given text) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array_to_string(alike._key_values(a.key_columns, alike._key_types(alike._side(a), a.key_columns), given), ', ')
$$;

-- Every alike pair once, the lesser key first, the best pair first and equal ones
-- by their keys. Features that one row alone has are nearly all of them; they go before the join, which an index-only scan in
-- the order of the feature does ten times as fast as a hash join. A pair is
-- found in the first feature that its rows share. From PostgreSQL 14 on the
-- features are shared out among parallel workers; the sizes keep the planner
-- from having several read one index, after which it would start them anew for
-- each of its entries.
create function alike._pairs(a alike.attachment, least_resemblance double precision)
returns table (key text, other text, shared integer, resemblance double precision, low double precision, high double precision)
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
set enable_hashagg = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set min_parallel_index_scan_size = 715827882
set min_parallel_table_scan_size = 715827882
as $$
declare
  keys constant name[] := a.key_columns;
  side constant text := format('%I.%I', a.side_schema, a.side_name);
  mark constant text := format('%I.%I', a.side_schema, a.side_name || '_mark');
  p constant alike.profile_fields := alike._parse((select profile from alike.settings where id = a.profile_id));
  shared_features constant text := (select string_agg(format('coalesce((x.f%s = y.f%s)::integer, 0)', n, n), ' + ' order by n) from generate_series(1, a.features) as n);
  bounds constant text := case when p.family in (0, 4, 5, 7) and p.t <= 256 then alike._bounds_of_slots(p.t, p.bits) else 'alike._bounds(v.sketch, v.other_sketch, 0.95)' end;
  ordered constant text := format('select q.* from (%%s) q order by q.resemblance desc, %s, %s', alike._key_order(a, 'q.key'), alike._key_order(a, 'q.other'));
  marked boolean;
  -- What an arm has of a row; the same with y of the other.
  features constant text := (select string_agg('x.f' || n, ', ' order by n) from generate_series(1, a.features) as n);
  key_x constant name[] := array(select 'xk' || n from generate_subscripts(keys, 1) as n order by n)::name[];
  key_y constant name[] := array(select 'yk' || n from generate_subscripts(keys, 1) as n order by n)::name[];
  columns constant text := (select string_agg('x' || n, ', ' order by n) from generate_series(1, a.features) as n) || ', ' || array_to_string(key_x, ', ');
  arms text;
  hopeful text := 'true';
begin
  if not a.indexed then
    raise exception 'alike: the side table of % is being filled', a.name using errcode = 'object_not_in_prerequisite_state',
      hint = 'select * from alike.status() shows how far it is.';
  end if;
  if a.distributed then
    return query execute format(ordered, format('with %s select v.key, v.other, v.shared, v.resemblance, b.low, b.high from verified v cross join lateral %s b where v.resemblance >= $1 or v.marked',
      alike._pairs_across_nodes(a), bounds)) using least_resemblance;
    return;
  end if;
  execute format('select exists (select from %s)', mark) into marked;
  -- The bits that differ fill so many slots at least: to count them is quick and
  -- leaves few pairs to compare. PostgreSQL 13 cannot count bits.
  if alike._slots(p.family) and p.family <> 6 and current_setting('server_version_num')::integer >= 140000 then
    hopeful := format('bit_count((''x'' || encode(substr(c.sketch, 21), ''hex''))::bit varying # (''x'' || encode(substr(c.other_sketch, 21), ''hex''))::bit varying) <= %s',
      (select max(d) * p.bits from generate_series(0, p.t) as d
       where greatest(0, alike._resemblance((p.t - d) / p.t::double precision, p.t, p.t, p.bits)) >= least_resemblance));
  end if;
  select string_agg(format(
    'select x.sketch, %3$s, y.sketch, %4$s from (select s.f%1$s as feature from %2$s s where s.f%1$s is not null group by s.f%1$s having count(*) > 1) d
       join %2$s x on x.f%1$s = d.feature join %2$s y on y.f%1$s = d.feature
     where x.profile = %5$s and y.profile = %5$s and %6$s%7$s%8$s', n, side,
    features || ', ' || alike._key_list(keys, 'x'), replace(features, 'x.', 'y.') || ', ' || alike._key_list(keys, 'y'),
    a.profile_id, alike._key_less(keys, 'x', 'y'),
    -- Two rows may have NULL in an earlier feature, which is nothing in common.
    coalesce((select string_agg(format(' and (x.f%s = y.f%s) is not true', m, m), '' order by m) from generate_series(1, n - 1) as m), ''),
    case when marked then format(' and not exists (select from %s m where %s and %s)', mark, alike._key_equal(keys, 'm', 'x'),
      (select string_agg(format('m.%I = y.%I', alike._other(keys, m), keys[m]), ' and ' order by m) from generate_subscripts(keys, 1) as m)) else '' end),
    E'\nunion all ' order by n)
  into arms
  from generate_series(1, a.features) as n;
  return query execute format(ordered, format(
    'with candidate (sketch, %s, other_sketch, %s) as (%s),
     verified as (
       select %s as key, %s as other, %s as shared, alike.resemblance(c.sketch, c.other_sketch) as resemblance, c.sketch, c.other_sketch from candidate c where %s offset 0
     )
     select v.key, v.other, v.shared, v.resemblance, b.low, b.high from verified v cross join lateral %s b where v.resemblance >= $1 %s',
    columns, replace(columns, 'x', 'y'),
    arms,
    alike._key_text(key_x, 'c'), alike._key_text(key_y, 'c'),
    (select string_agg(format('coalesce((c.x%s = c.y%s)::integer, 0)', m, m), ' + ' order by m) from generate_series(1, a.features) as m),
    hopeful,
    bounds,
    case when marked then format(
      'union all select v.key, v.other, v.shared, v.resemblance, b.low, b.high from (
         select %s as key, %s as other, %s as shared, alike.resemblance(x.sketch, y.sketch) as resemblance, x.sketch, y.sketch as other_sketch
         from %s m join %s x on %s join %s y on %s
         where m.verdict = ''duplicate'' and x.profile = y.profile and x.sketch is not null and y.sketch is not null offset 0) v
       cross join lateral alike._bounds(v.sketch, v.other_sketch, 0.95) b',
      alike._key_text(keys, 'x'), alike._key_text(keys, 'y'), shared_features, mark, side, alike._key_equal(keys, 'm', 'x'), side,
      alike._key_equal(alike._others(keys), 'm', 'y', keys)) else '' end))
  using least_resemblance;
end
$$;

-- A subquery that turns v.resemblance back into matches of t slots and looks
-- their interval up: the same numbers as _bounds, without comparing again. OFFSET
-- keeps it below the pairs: with the intervals first, all pairs were computed anew
-- for each of them.
create function alike._bounds_of_slots(t integer, bits integer) returns text language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format(
    '(select %s as low, %s as high from alike.lower_bound l join alike.lower_bound h on h.trials = %s and h.matches = %s - l.matches
      where l.trials = %s and l.matches = case when v.resemblance = 0 then (alike._compare(v.sketch, v.other_sketch)).matches else %s end
      offset 0)',
    case when bits = 64 then 'l.lower' else format('least(1, greatest(0, (l.lower - %s::double precision) / (1 - %s::double precision)))', luck, luck) end,
    case when bits = 64 then '1 - h.lower' else format('least(1, greatest(0, (1 - h.lower - %s::double precision) / (1 - %s::double precision)))', luck, luck) end,
    t, t, t,
    case when bits = 64 then format('round(v.resemblance * %s)::integer', t)
         else format('round((v.resemblance * (1 - %s::double precision) + %s::double precision) * %s)::integer', luck, luck, t) end)
  from (select case when bits < 64 then 1::double precision / (1::bigint << bits) end as luck) as l
$$;

create function alike.pairs("table" text, at_least double precision default 'NaN')
returns table (key text, other text, shared integer, resemblance double precision, low double precision, high double precision)
language sql
as $$ select * from alike._pairs(alike._attachment("table"), alike._limit(alike._attachment("table"), at_least)) where "table" is not null and at_least is not null $$;
comment on function alike.pairs(text, double precision) is 'every pair of rows that resemble each other, once';

-- Clusters of pairs, the best pair first. As in package sketch (linkage.go), a
-- cluster takes another in only when every distinct member of the smaller
-- resembles every representative of the larger, its first 32 distinct members:
-- no chain of pairs makes one cluster of strangers. Members at resemblance 1
-- are the same to every check. What a person called distinct is never together,
-- what a person called duplicate is, unless that says otherwise.
create function alike._clusters(a alike.attachment, least_resemblance double precision)
returns table (key text, cluster text, size bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  mark constant text := format('%I.%I', a.side_schema, a.side_name || '_mark');
  others constant name[] := alike._others(a.key_columns);
  names text[];        -- of the rows, in the order of their keys
  clusters text[];
  sketches bytea[];
  xs integer[];        -- pairs, the best first
  ys integer[];
  same boolean[];
  apart_x integer[];
  apart_y integer[];
  together_x integer[];
  together_y integer[];
  parent integer[];
  members integer[];   -- distinct ones, of a root
  next integer[];      -- the ring of distinct members, from the root
  least_of integer[];
  count_of integer[];
  large integer;
  small integer;
  known_large integer;
  known_small integer;
  member integer;
  representative integer;
  tail integer;
  fits boolean;
  n integer;
begin
  -- One look at the pairs, numbered by the order of the keys.
  execute format(
    'with p as materialized (select p.* from alike._pairs($1, $2) p),
          k as materialized (select u.key, row_number() over (order by %1$s)::integer as n from (select p.key from p union select p.other from p) u),
          q as materialized (select x.n as x, y.n as y, p.resemblance from p join k x on x.key = p.key join k y on y.key = p.other where p.resemblance >= $2)
     select array(select k.key from k order by n), array(select x from q order by resemblance desc, x, y),
       array(select y from q order by resemblance desc, x, y), array(select resemblance = 1 from q order by resemblance desc, x, y)',
    alike._key_order(a, 'u.key'))
  into names, xs, ys, same using a, least_resemblance;
  execute format('select array_agg(q.sketch order by q.n) from (select s.sketch, k.n from unnest($1) with ordinality as k(key, n) join %s s on %s offset 0) q',
    alike._side(a), alike._key_is(a.key_columns, alike._key_types(alike._side(a), a.key_columns), 's', 'k.key'))
  into sketches using names;
  execute format(
    'with m as materialized (select %2$s as key, %3$s as other, verdict from %1$s m),
          k as materialized (select * from unnest($1) with ordinality as k(key, n)),
          q as materialized (select x.n as x, y.n as y, m.verdict from m join k x on x.key = m.key join k y on y.key = m.other)
     select array(select x from q where verdict = ''distinct'' order by x, y), array(select y from q where verdict = ''distinct'' order by x, y),
       array(select x from q where verdict = ''duplicate'' order by x, y), array(select y from q where verdict = ''duplicate'' order by x, y)',
    mark, alike._key_text(a.key_columns, 'm'), alike._key_text(others, 'm'))
  into apart_x, apart_y, together_x, together_y using names;
  n := cardinality(names);
  if n = 0 then
    return;
  end if;
  parent := array(select generate_series(1, n));
  next := parent;
  members := array_fill(1, array[n]);

  for i in 1 .. cardinality(xs) + cardinality(together_x) loop
    if i <= cardinality(xs) then
      known_large := xs[i];
      known_small := ys[i];
    else
      known_large := together_x[i - cardinality(xs)];
      known_small := together_y[i - cardinality(xs)];
    end if;
    large := known_large;
    while parent[large] <> large loop
      parent[large] := parent[parent[large]];
      large := parent[large];
    end loop;
    small := known_small;
    while parent[small] <> small loop
      parent[small] := parent[parent[small]];
      small := parent[small];
    end loop;
    continue when large = small;
    if members[large] < members[small] or members[large] = members[small] and small < large then
      member := large;
      large := small;
      small := member;
      member := known_large;
      known_large := known_small;
      known_small := member;
    end if;
    fits := true;
    for j in 1 .. cardinality(apart_x) loop
      member := apart_x[j];
      while parent[member] <> member loop
        member := parent[member];
      end loop;
      representative := apart_y[j];
      while parent[representative] <> representative loop
        representative := parent[representative];
      end loop;
      if (member, representative) in ((large, small), (small, large)) then
        fits := false;
        exit;
      end if;
    end loop;
    continue when not fits;
    if i > cardinality(xs) then
      parent[small] := large;
      continue;
    end if;
    if same[i] and members[large] = 1 and members[small] = 1 then
      parent[small] := large;
      continue;
    end if;
    member := small;
    loop
      representative := large;
      for r in 1 .. 32 loop
        if (member <> known_small or representative <> known_large)
           and alike.resemblance(sketches[member], sketches[representative]) < least_resemblance then
          fits := false;
          exit;
        end if;
        representative := next[representative];
        exit when representative = large;
      end loop;
      exit when not fits or next[member] = small;
      member := next[member];
    end loop;
    continue when not fits;
    tail := member;
    representative := large;
    for r in 1 .. least(members[large], 32) - 1 loop
      representative := next[representative];
    end loop;
    next[tail] := next[representative];
    next[representative] := small;
    parent[small] := large;
    members[large] := members[large] + members[small];
  end loop;

  least_of := array_fill(null::integer, array[n]);
  count_of := array_fill(0, array[n]);
  for i in 1 .. n loop
    large := i;
    while parent[large] <> large loop
      large := parent[large];
    end loop;
    parent[i] := large;
    least_of[large] := least(least_of[large], i);
    count_of[large] := count_of[large] + 1;
  end loop;
  -- Arrays are read in this language, where any element is as near as another.
  clusters := names;
  for i in 1 .. n loop
    large := parent[i];
    clusters[i] := names[least_of[large]];
    members[i] := count_of[large];
    next[i] := least_of[large];
  end loop;
  return query
    select u.name, u.cluster, u.size::bigint
    from unnest(names, clusters, members, next) with ordinality as u(name, cluster, size, least, i)
    where u.size > 1
    order by u.least, u.i;
end
$$;

create function alike.clusters("table" text, at_least double precision default 'NaN')
returns table (key text, cluster text, size bigint)
language sql
as $$ select * from alike._clusters(alike._attachment("table"), alike._limit(alike._attachment("table"), at_least)) where "table" is not null and at_least is not null $$;
comment on function alike.clusters(text, double precision) is 'the cluster of each row that is in one, named by its least key';

create function alike._mark(a alike.attachment, x text, y text, verdict text, note text) returns text language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  types constant text[] := alike._key_types(alike._side(a), keys);
  mark constant text := format('%I.%I', a.side_schema, a.side_name || '_mark');
  columns constant text := alike._names(keys || alike._others(keys));
  equal boolean;
  less boolean; -- x comes first, as the columns order it
  itself boolean;
  rows integer := 0;
begin
  if verdict is null or verdict not in ('duplicate', 'distinct') then
    raise exception 'alike: mark: verdict "%", want duplicate or distinct', verdict using errcode = 'invalid_parameter_value';
  end if;
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
    raise exception 'alike: mark: % is the same row twice', left(x, 100) using errcode = 'invalid_parameter_value';
  end if;
  for itself in execute format('select %1$s from %2$s s where %1$s or %3$s order by %4$s',
      alike._key_is(keys, types, 's', '$1'), alike._side(a), alike._key_is(keys, types, 's', '$2'), alike._key_list(keys, 's')) using x, y loop
    rows := rows + 1;
    less := coalesce(less, itself);
  end loop;
  if rows < 2 then
    raise exception 'alike: mark: % has no rows with the keys % and %', a.name, left(x, 100), left(y, 100) using errcode = 'no_data_found';
  end if;
  execute format('insert into %s (%s, verdict, note) values (%s, %s, $3, $4)
    on conflict (%s) do update set verdict = excluded.verdict, note = excluded.note, marked_at = excluded.marked_at, marked_by = excluded.marked_by',
    mark, columns, array_to_string(alike._key_values(keys, types, '$1'), ', '), array_to_string(alike._key_values(keys, types, '$2'), ', '), columns)
  using case when less then x else y end, case when less then y else x end, verdict, note;
  return verdict;
end
$$;

create function alike.mark("table" text, key text, other text, verdict text, note text default null) returns text
language sql
as $$ select alike._mark(alike._attachment("table"), key, other, verdict, note) $$;
comment on function alike.mark(text, text, text, text, text) is 'a person''s verdict on a pair, duplicate or distinct, which every answer obeys';

create function alike._hot(a alike.attachment) returns table (slot integer, feature bigint, rows bigint, key text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_hashagg = off
as $$
begin
  return query execute format('with h as materialized (%s), k as materialized (%s)
    select distinct on (h.rows, h.slot, h.feature) h.slot, h.feature, h.rows, k.key from h join k on k.slot = h.slot and k.feature = h.feature order by h.rows desc, h.slot, h.feature, %s',
    (select string_agg(format('(select %s as slot, f%s as feature, count(*) as rows from %s where f%s is not null group by f%s having count(*) >= 10)', n, n, alike._side(a), n, n), ' union all ' order by n)
     from generate_series(1, a.features) as n),
    (select string_agg(format('(select h.slot, h.feature, %s as key from h join %s s on s.f%s = h.feature where h.slot = %s)',
       alike._key_text(a.key_columns, 's'), alike._side(a), n, n), ' union all ' order by n)
     from generate_series(1, a.features) as n),
    alike._key_order(a, 'k.key'));
end
$$;

create function alike.hot("table" text) returns table (slot integer, feature bigint, rows bigint, key text)
language sql stable
as $$ select * from alike._hot(alike._attachment("table")) where "table" is not null $$;
comment on function alike.hot(text) is 'features that ten rows or more share, with one of these rows';

create function alike._errors(a alike.attachment) returns table (key text, message text, attempts integer, failed_at timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select e.key, e.message, e.attempts, e.failed_at from alike.error e where e.attachment = a.id order by e.failed_at desc, e.key
$$;

create function alike.errors("table" text) returns table (key text, message text, attempts integer, failed_at timestamptz)
language sql stable
as $$ select * from alike._errors(alike._attachment("table")) where "table" is not null $$;
comment on function alike.errors(text) is 'the rows that failed and why, the newest first';

-- Rows of a table: counted while that is quick, and from the statistics of
-- the last ANALYZE where it is not.
create function alike._count(relation regclass, filter text) returns bigint language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  pages bigint;
  rows bigint;
begin
  select sum(pg_relation_size(c.oid)) / 8192, sum(c.reltuples)::bigint into pages, rows
  from pg_class c
  where c.oid = relation or c.oid in (with recursive part as (
      select inhrelid from pg_inherits where inhparent = relation union all select i.inhrelid from pg_inherits i join part p on i.inhparent = p.inhrelid)
    select inhrelid from part);
  if pages is null or (pages > 50000 and rows > 0 and filter is null) then
    return rows;
  end if;
  execute format('select count(*) from %s%s', relation, ' where ' || filter) into rows;
  return rows;
exception
  when insufficient_privilege then
    return null;
end
$$;

-- What may hold the worker up.
create function alike._note(a alike.attachment, pending bigint) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  notes text[] := '{}';
  b record;
  old record;
begin
  if a.problem is not null then
    notes := notes || a.problem;
  end if;
  select f.rows, f.split_at, (select sum(c.rows) from alike.chunk c where c.attachment = a.id) as remaining into b
  from alike.backfill f where f.attachment = a.id and f.finished_at is null;
  if found then
    notes := notes || case
      when b.split_at is null then format('%s rows wait to be read', b.rows)
      when b.remaining is null then 'indexes are being made'
      else format('being filled: %s of %s rows remain', least(b.remaining, b.rows), b.rows)
    end;
  end if;
  -- An old snapshot keeps the entries that were taken from the queue, and every
  -- claim has to step over them.
  select s.pid, date_trunc('second', clock_timestamp() - s.xact_start) as age into old
  from pg_stat_activity s
  where s.datname = current_database() and s.pid <> pg_backend_pid() and s.backend_xmin is not null and s.xact_start < clock_timestamp() - interval '1 minute'
  order by s.xact_start
  limit 1;
  if found then
    notes := notes || format('a transaction of process %s has been open for %s and slows the queue down', old.pid, old.age);
  end if;
  if pending > 0 and not exists (select from pg_stat_activity s where s.datname = current_database() and s.application_name = 'alike worker') then
    notes := notes || 'no worker is connected'::text;
  end if;
  return nullif(array_to_string(notes, '; '), '');
end
$$;

create function alike.status() returns table (
  name text, "table" text, "column" text, profile text, mode text, policy text, at_least double precision,
  rows bigint, sketched bigint, pending bigint, failed bigint, oldest timestamptz, note text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  a alike.attachment;
begin
  for a in select * from alike.attachment t order by t.name, t.id loop
    name := case when a.replaces is null then a.name else a.name || ' (next)' end;
    "table" := coalesce((select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = a.source), a.source::oid::text);
    "column" := a.column_name;
    profile := (select s.profile from alike.settings s where s.id = a.profile_id);
    mode := a.mode;
    policy := a.policy;
    at_least := a.at_least;
    rows := alike._count(a.source, a.row_filter);
    sketched := alike._count(alike._side(a), null);
    select count(*), min(q.queued_at) into pending, oldest from alike.queue q where q.attachment = a.id;
    failed := (select count(*) from alike.error e where e.attachment = a.id);
    note := alike._note(a, pending);
    return next;
  end loop;
end
$$;
comment on function alike.status() is 'every attachment: how many rows it has, how many wait, and what may be wrong';

create function alike.version() returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select '0.1.0'::text $$;
comment on function alike.version() is 'the release that the schema is of';
