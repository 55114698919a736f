-- The verdicts as a query: each pair once, the lesser key first. alike.mark writes them so; a
-- person who writes the table by hand may not. Of two verdicts distinct counts.
create function alike._verdicts(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('select distinct on (%2$s, %3$s) m.* from (select %2$s, %3$s, m.verdict from %1$s m where (%2$s) < (%3$s) union all select %3$s, %2$s, m.verdict from %1$s m where (%3$s) < (%2$s)) m order by %2$s, %3$s, m.verdict',
    alike._name(a, '_mark'), alike._key_list(a.key_columns, 'm'), alike._key_list(alike._others(a.key_columns), 'm'))
$$;

-- The candidates: the pairs of rows that share a feature, each found in the first that they
-- share, without those that a person called distinct.
create function alike._pair_candidates(a alike.attachment, marked boolean) returns text language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  parts constant boolean := alike._in_parts(a);
  others constant name[] := alike._others(a.key_columns);
  side constant text := alike._name(a, '');
  read constant text := alike._name(a, case when parts then '_part' else '' end);
  -- The pair: two entries, or two rows.
  this constant text := case when parts then '(p.this)' else 'x' end;
  that constant text := case when parts then '(p.that)' else 'y' end;
  entries constant text := format('%s.alike_entry, %s, %s.alike_entry, %s', this, alike._key_list(a.key_columns, this), that, alike._key_list(a.key_columns, that));
  rows constant text := (select string_agg(format('%s.sketch, %s, %s', v, (select string_agg(format('%s.f%s', v, n), ', ' order by n) from generate_series(1, a.features) as n),
    alike._key_list(a.key_columns, v)), ', ' order by v) from unnest(array['x', 'y']) as v);
  wanted constant text := format('x.profile = %1$s and y.profile = %1$s', a.profile_id)
    || case when marked then format(' and not exists (select from %1$s m where %2$s and %3$s) and not exists (select from %1$s m where %4$s and %5$s)', alike._name(a, '_mark'),
      alike._key_equal(a.key_columns, 'm', 'x'), alike._key_equal(others, 'm', 'y', a.key_columns),
      alike._key_equal(a.key_columns, 'm', 'y'), alike._key_equal(others, 'm', 'x', a.key_columns)) else '' end;
  shared text;
  first text;
  pairs text;
begin
  for n in 1 .. a.features loop
    shared := format('(select s.f%1$s as feature from %2$s s where s.f%1$s is not null group by s.f%1$s having count(*) > 1) d', n, read);
    -- Two rows may both have NULL in an earlier feature, which they then do not share.
    first := alike._key_less(a.key_columns, this, that)
      || coalesce((select string_agg(format(' and (%s.f%s = %s.f%2$s) is not true', this, m, that), '' order by m) from generate_series(1, n - 1) as m), '');
    pairs := concat_ws(E'\nunion all ', pairs, case when parts then format(
      'select %s from (select g.this, unnest(g.entries) as that from (select unnest(g.entries) as this, g.entries
         from (select array_agg(e) as entries from %s join %s e on e.f%s = d.feature group by d.feature) g) g) p where %s',
      entries, shared, read, n, first)
    else format('select %s from %s cross join lateral %s cross join lateral %s where %s and %s',
      rows, shared, alike._rows_with(a, n, 'd.feature', 'x'), alike._rows_with(a, n, 'd.feature', 'y'), wanted, first) end);
  end loop;
  -- In the parts the entries make the pairs, and only the rows of these are read. Each part is asked for the entries
  -- with a feature once. A subquery that names d, or has a LIMIT, would keep the slots from parallel workers. The planner
  -- takes numbers for independent of keys; were they compared by =, it would expect no row and read all first.
  if parts then
    pairs := format('select %s from (%s) p (alike_this, %s, alike_that, %s)
      join %s x on %s and x.alike_entry >= alike_this and x.alike_entry <= alike_this join %5$s y on %7$s and y.alike_entry >= alike_that and y.alike_entry <= alike_that where %8$s',
      rows, pairs, alike._names(a.key_columns), alike._names(others), side, alike._key_equal(a.key_columns, 'x', 'p'), alike._key_equal(a.key_columns, 'y', 'p', others), wanted);
  end if;
  return pairs;
end
$$;

-- How _pairs compares the sketches of its candidates c, of whose rows no resemblance below
-- the smallest is wanted: the resemblance (compared), what has to be joined for it (differing), the
-- number of slots that agree (matches), and the bounds of the resemblance by that number.
--
-- It is what alike.resemblance computes, without a call for each
-- pair of a crowd: the slots in which a bit differs, of the slots that there are. Sketches
-- that are the same are not looked at. PostgreSQL 13 cannot count bits.
create function alike._comparison(p alike.profile_fields, min_resemblance double precision,
  out compared text, out differing text, out matches text, out lows double precision[], out highs double precision[])
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  bits constant text := '(''x'' || encode(substr(c.%s, 23), ''hex''))::bit varying';
  luck constant double precision := 1 / (1::bigint << least(p.bits, 62))::double precision;
begin
  compared := 'alike.resemblance(c.sketch, c.other_sketch)';
  differing := '';
  matches := 'null::integer';
  if alike._slots(p.family) and p.family <> 6 and p.bits in (1, 2, 4, 8) and current_setting('server_version_num')::integer >= 140000 then
    compared := format('case when c.sketch = c.other_sketch then 1 else greatest(0, ((%s - d.slots) / %1$s::double precision - %s::double precision) / (1 - %2$s::double precision)) end', p.t, luck);
    differing := format(' cross join lateral (select case when c.sketch <> c.other_sketch then %s # %s end as x offset 0) x0',
        format(bits, 'sketch'), format(bits, 'other_sketch'))
      || coalesce((select string_agg(format(' cross join lateral (select x%1$s.x | (x%1$s.x >> %2$s) as x offset 0) x%3$s', n - 1, shift, n), '' order by n)
        from unnest(array[4, 2, 1]) with ordinality as u(shift, i), lateral (select i - 3 + (p.bits > 1)::integer + (p.bits > 2)::integer + (p.bits > 4)::integer as n) k where shift < p.bits), '')
      || format(' cross join lateral (select bit_count(x%s.x & B%L) as slots offset 0) d', (p.bits > 1)::integer + (p.bits > 2)::integer + (p.bits > 4)::integer, repeat(repeat('0', p.bits - 1) || '1', p.t))
      -- The number of bits that differ bounds the number of slots that do.
      || format(' where x0.x is null or bit_count(x0.x) <= %s', (select max(d) * p.bits from generate_series(0, p.t) as d
          where greatest(0, alike._resemblance((p.t - d) / p.t::double precision, p.t, p.t, p.bits)) >= min_resemblance));
    if p.t <= 256 then
      matches := format('%s - coalesce(d.slots, 0)', p.t);
      select array_agg(least(1, greatest(0, (l.lower - luck) / (1 - luck))) order by l.matches), array_agg(least(1, greatest(0, (1 - h.lower - luck) / (1 - luck))) order by l.matches)
      into lows, highs
      from alike.lower_bound l join alike.lower_bound h on h.trials = p.t and h.matches = p.t - l.matches where l.trials = p.t;
    end if;
  end if;
end
$$;

-- Every alike pair once, the lesser key first, the best pair first and equal ones
-- by their keys. Features that one row alone has are nearly all of them; they go before the join, which an index-only scan in
-- the order of the feature does ten times as fast as a hash join. A pair is
-- found in the first feature that its rows share. From PostgreSQL 14 on the
-- features are shared out among parallel workers; the sizes keep the planner
-- from having several read one index, after which it would start them anew for
-- each of its entries.
create function alike._pairs(a alike.attachment, min_resemblance double precision)
returns table (key text, other text, shared integer, resemblance double precision, low double precision, high double precision)
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
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
  side constant text := alike._name(a, '');
  mark constant text := alike._name(a, '_mark');
  p constant alike.profile_fields := alike._parse((select profile from alike.settings where id = a.profile_id));
  shared_features constant text := (select string_agg(format('coalesce((x.f%s = y.f%s)::integer, 0)', n, n), ' + ' order by n) from generate_series(1, a.features) as n);
  bounds constant text := case when p.family in (0, 4, 5, 7) and p.t <= 256 then alike._bounds_of_slots(p.t, p.bits) else 'alike._bounds(v.sketch, v.other_sketch, 0.95)' end;
  ordered constant text := format('select q.* from (%%s) q order by q.resemblance desc, %s, %s', replace(alike._key_order(a, 'q.key'), '%', '%%'), replace(alike._key_order(a, 'q.other'), '%', '%%'));
  marked boolean;
  -- What a candidate has of a row; the same with y of the other.
  key_x constant name[] := array(select 'xk' || n from generate_subscripts(keys, 1) as n order by n)::name[];
  key_y constant name[] := array(select 'yk' || n from generate_subscripts(keys, 1) as n order by n)::name[];
  columns constant text := (select string_agg('x' || n, ', ' order by n) from generate_series(1, a.features) as n) || ', ' || array_to_string(key_x, ', ');
  c record; -- the comparison
  short constant record := alike._short(a);
  sound constant text := alike._sound(a, 'x');
begin
  if not a.indexed then
    raise exception 'alike: the side table of % is being filled', a.name using errcode = 'object_not_in_prerequisite_state',
      hint = 'select * from alike.status() shows how far it is.';
  end if;
  if a.distributed then
    return query execute format(ordered, format('with %s select v.key, v.other, v.shared, v.resemblance, b.low, b.high from verified v cross join lateral %s b where v.resemblance >= $1 and ($2 is null or v.resemblance >= $2 or v.size >= $3) or v.marked',
      alike._pairs_across_nodes(a), bounds)) using min_resemblance, short.at_least, short.below;
    return;
  end if;
  execute format('select exists (select from %s)', mark) into marked;
  select * into c from alike._comparison(p, min_resemblance);
  return query execute format(ordered, format(
    'with candidate (sketch, %s, other_sketch, %s) as (%s),
     verified as (
       select %s as key, %s as other, %s as shared, %s as resemblance, %s as matches, c.sketch, c.other_sketch from (select * from candidate x where %s and %s) c%s offset 0
     )
     select v.key, v.other, v.shared, v.resemblance, b.low, b.high from verified v cross join lateral %s b where v.resemblance >= $1%s %s',
    columns, replace(columns, 'x', 'y'),
    alike._pair_candidates(a, marked),
    alike._key_text(key_x, 'c'), alike._key_text(key_y, 'c'),
    (select string_agg(format('coalesce((c.x%s = c.y%s)::integer, 0)', m, m), ' + ' order by m) from generate_series(1, a.features) as m),
    c.compared,
    c.matches,
    sound, replace(sound, 'x.sketch', 'x.other_sketch'),
    c.differing,
    case when c.lows is null then bounds else '(select $2[v.matches + 1] as low, $3[v.matches + 1] as high)' end,
    -- Few pairs lie between the two thresholds; the lengths of their rows are looked up.
    case when short.at_least is not null then format(' and (v.resemblance >= $4 or not exists (select from %1$s s where %2$s and s.shingles < $5) and not exists (select from %1$s s where %3$s and s.shingles < $5))',
      side, alike._key_is(keys, alike._key_types(alike._side(a), keys), 's', 'v.key'), alike._key_is(keys, alike._key_types(alike._side(a), keys), 's', 'v.other')) else '' end,
    case when marked then format(
      'union all select v.key, v.other, v.shared, v.resemblance, b.low, b.high from (
         select %s as key, %s as other, %s as shared, coalesce(alike.resemblance(x.sketch, y.sketch), 0) as resemblance, x.sketch, y.sketch as other_sketch
         from (%s) m join %s x on %s join %s y on %s
         where m.verdict = ''duplicate'' and x.profile = %s and y.profile = %s and %s and %s offset 0) v
       cross join lateral alike._bounds(v.sketch, v.other_sketch, 0.95) b',
      alike._key_text(keys, 'x'), alike._key_text(keys, 'y'), shared_features, alike._verdicts(a), side, alike._key_equal(keys, 'm', 'x'), side,
      alike._key_equal(alike._others(keys), 'm', 'y', keys), a.profile_id, a.profile_id, sound, alike._sound(a, 'y')) else '' end))
  using min_resemblance, c.lows, c.highs, short.at_least, short.below;
end
$$;

create function alike.pairs("table" text, at_least double precision default 'NaN')
returns table (key text, other text, shared integer, resemblance double precision, low double precision, high double precision)
language sql
as $$ select * from alike._pairs(alike._asked(alike._attachment("table"), at_least), alike._limit(alike._attachment("table"), at_least)) where "table" is not null and at_least is not null $$;
comment on function alike.pairs(text, double precision) is 'every pair of rows that resemble each other, once';
