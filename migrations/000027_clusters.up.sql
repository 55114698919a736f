-- Clusters of pairs, and which rows to keep. What is decided here is decided in package
-- sketch/cluster for SQLite (linker.go, linkage.go), in the same order.

-- The rows that are in a pair and the pairs, by the numbers of the rows, as one sorted list:
-- kind 1 is row x, its key and its place in the order of the keys; 2 two rows that a person
-- called distinct; 3 a pair; 4 two rows that a person called duplicates. Rows are numbered
-- by ranks, a query of keys and ranks of which the greatest comes first, and by their keys.
-- For the greedy linkages a pair is in the place of its later row; for the others
-- the best pair comes first, and what a person called duplicates is of kind 4 alone. Where
-- keys are given, the pairs are those of their rows, which no other rows resemble.
create function alike._numbered_pairs(a alike.attachment, min_resemblance double precision, linkage text, ranks text, given text[])
returns table (kind integer, x integer, y integer, key text, resemblance double precision)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  short constant record := alike._short(a);
  by_key constant text := alike._key_order(a, 'd.key');
  descending constant text := (select string_agg(v || ' desc', ', ' order by n)
    from unnest(alike._key_values(a.key_columns, alike._key_types(alike._side(a), a.key_columns), 'd.key')) with ordinality as u(v, n));
begin
  return query execute format(
    'with p as materialized (%7$s),
          m as materialized (select least(u.key, u.other) as low, greatest(u.key, u.other) as high, u.verdict from (select %1$s as key, %2$s as other, m.verdict from %3$s m) u),
          d as materialized (select u.key, count(*) as pairs from (select p.key from p union all select p.other from p) u group by u.key),
          r as materialized (%4$s),
          k as materialized (
            select d.key, row_number() over (order by %5$s)::integer as n, row_number() over (order by %6$s)::integer as place
            from d left join r on r.key = d.key),
          q as materialized (
            select least(x.n, y.n) as x, greatest(x.n, y.n) as y, p.resemblance, m.low is not null as marked
            from p join k x on x.key = p.key join k y on y.key = p.other
            left join m on m.verdict = ''duplicate'' and m.low = least(p.key, p.other) and m.high = greatest(p.key, p.other)),
          n as materialized (select x.n as x, y.n as y, m.verdict from m join k x on x.key = m.low join k y on y.key = m.high)
     select u.kind, u.x, u.y, u.key, u.resemblance
     from (
       select 1 as kind, k.n as x, k.place as y, k.key, null::double precision as resemblance, k.n as first, 0 as marked from k
       union all select 2, n.x, n.y, null, null, 0, 0 from n where n.verdict = ''distinct''
       union all select 3, q.x, q.y, null, q.resemblance, case when $3 then q.y else 0 end, case when $3 then q.marked::integer else 0 end from q where case when $3 then $4 or q.marked else not q.marked end
       union all select 4, n.x, n.y, null, null, 0, 0 from n where n.verdict = ''duplicate'') u
     order by u.kind, u.first, u.marked desc, u.resemblance desc, u.x, u.y',
    alike._key_text(a.key_columns, 'm'), alike._key_text(alike._others(a.key_columns), 'm'), alike._name(a, '_mark'),
    coalesce(ranks, 'select null::text as key, null::integer as rank'),
    case linkage when 'newest' then descending when 'popular' then 'd.pairs desc, ' || by_key else 'r.rank desc nulls last, ' || by_key end,
    by_key,
    case when given is null then 'select p.key, p.other, p.resemblance from alike._pairs($1, $2) p'
      else format('select g.key, k.key as other, k.resemblance from unnest($5) as g(key) cross join lateral %s(null, null, g.key, $2, null, $6, $7) k where g.key < k.key', alike._generated(a, 'similar')) end)
  using a, min_resemblance, linkage in ('greedy', 'popular', 'newest', 'verdict'), linkage <> 'verdict', given, short.at_least, short.below;
end
$$;

-- The rows that are in a pair, and to which row each was joined. greedy: a row joins the
-- row before it that it resembles most, of those that have not joined one themselves. single: of
-- two rows in a pair the clusters are one. components: the same, whatever people called distinct. complete: a cluster takes another in only when every
-- distinct member of the smaller resembles every representative of the larger, its first 32
-- distinct members; members at resemblance 1 are the same to every check. The distinct
-- members are a ring, from the root on. It is one loop because each pair is judged by what the
-- pairs before it joined: a function that changes those arrays would get copies of them.
create function alike._link(a alike.attachment, min_resemblance double precision, linkage text, ranks text, keeping boolean, given text[] default null,
  out names text[], out places integer[], out joined integer[], out resemblances double precision[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  greedy constant boolean := linkage not in ('complete', 'single', 'components');
  p record;
  ends integer[];      -- the roots of a pair
  known integer[];
  apart integer[] := '{}'; -- two by two
  sketches bytea[];
  sizes bigint[];      -- where short texts need more
  short constant record := alike._short(a);
  members integer[];   -- distinct ones, of a root
  next integer[];
  member integer;
  representative integer;
  fits boolean;
begin
  for p in select * from alike._numbered_pairs(a, min_resemblance, linkage, ranks, given) loop
    if p.kind = 1 then
      names[p.x] := p.key;
      places[p.x] := p.y;
      joined[p.x] := p.x;
      resemblances[p.x] := 1;
      continue;
    elsif p.kind = 2 then
      apart := apart || array[p.x, p.y];
      continue;
    elsif p.kind = 3 and greedy then
      if joined[p.y] = p.y and joined[p.x] = p.x and (keeping or not exists (
          select from generate_series(1, cardinality(apart), 2) as i
          where apart[i] = p.y and joined[apart[i + 1]] = p.x or apart[i + 1] = p.y and joined[apart[i]] = p.x)) then
        joined[p.y] := p.x;
        resemblances[p.y] := p.resemblance;
      end if;
      continue;
    elsif p.kind = 4 and keeping then
      continue;
    elsif members is null then
      members := array_fill(1, array[cardinality(names)]);
      next := array(select generate_subscripts(names, 1));
    end if;
    known := array[p.x, p.y];
    ends := known;
    for i in 1 .. 2 loop
      while joined[ends[i]] <> ends[i] loop
        joined[ends[i]] := joined[joined[ends[i]]];
        ends[i] := joined[ends[i]];
      end loop;
    end loop;
    continue when ends[1] = ends[2];
    if members[ends[1]] < members[ends[2]] or members[ends[1]] = members[ends[2]] and ends[2] < ends[1] then
      ends := array[ends[2], ends[1]];
      known := array[known[2], known[1]];
    end if;
    continue when cardinality(apart) > 0 and linkage <> 'components' and alike._kept_apart(joined, apart, ends);
    if p.kind = 3 and linkage = 'complete' and (p.resemblance < 1 or members[ends[1]] > 1 or members[ends[2]] > 1) then
      if sketches is null then
        select * into sketches, sizes from alike._sketches(a, names);
      end if;
      fits := true;
      member := ends[2];
      loop
        representative := ends[1];
        for i in 1 .. 32 loop
          fits := member = known[2] and representative = known[1] or coalesce(alike.resemblance(sketches[member], sketches[representative]), 0)
            >= case when least(sizes[member], sizes[representative]) < short.below then greatest(short.at_least, min_resemblance) else min_resemblance end;
          representative := next[representative];
          exit when not fits or representative = ends[1];
        end loop;
        exit when not fits or next[member] = ends[2];
        member := next[member];
      end loop;
      continue when not fits;
      representative := ends[1];
      for i in 1 .. least(members[ends[1]], 32) - 1 loop
        representative := next[representative];
      end loop;
      next[member] := next[representative];
      next[representative] := ends[2];
      members[ends[1]] := members[ends[1]] + members[ends[2]];
    end if;
    joined[ends[2]] := ends[1];
  end loop;
  for i in 1 .. coalesce(cardinality(joined), 0) loop
    while joined[joined[i]] <> joined[i] loop
      joined[i] := joined[joined[i]];
    end loop;
  end loop;
end
$$;

-- Whether two rows that a person called distinct are in the clusters of two roots.
create function alike._kept_apart(joined integer[], apart integer[], ends integer[]) returns boolean language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  roots integer[];
begin
  for i in 1 .. cardinality(apart) by 2 loop
    roots := apart[i : i + 1];
    for e in 1 .. 2 loop
      while joined[roots[e]] <> roots[e] loop
        roots[e] := joined[roots[e]];
      end loop;
    end loop;
    if roots @> ends and ends @> roots then
      return true;
    end if;
  end loop;
  return false;
end
$$;

-- The sketches of rows and the numbers of their shingles, in the order in which their keys are
-- given.
create function alike._sketches(a alike.attachment, names text[], out sketches bytea[], out sizes bigint[]) language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  execute format('select array_agg(q.sketch order by q.n), array_agg(q.shingles order by q.n) from (select s.sketch, s.shingles, k.n from unnest($1) with ordinality as k(key, n) join %s s on %s offset 0) q',
    alike._side(a), alike._key_is(a.key_columns, alike._key_types(alike._side(a), a.key_columns), 's', 'k.key'))
  into sketches, sizes using names;
end
$$;

create function alike._clusters(a alike.attachment, min_resemblance double precision, linkage text default 'complete')
returns table (key text, cluster text, size bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  linked record;
begin
  if linkage not in ('complete', 'single', 'greedy', 'popular') then
    raise exception 'alike: the linkage is "%", want complete, single, greedy or popular', left(linkage, 60) using errcode = 'invalid_parameter_value';
  end if;
  select * into linked from alike._link(a, min_resemblance, linkage, null, false);
  return query
    select q.name, q.cluster, q.size
    from (
      select u.name, u.place, first_value(u.name) over (partition by u.root order by u.place) as cluster,
        min(u.place) over (partition by u.root) as first_place, count(*) over (partition by u.root) as size
      from unnest(linked.names, linked.places, linked.joined) as u(name, place, root)) q
    where q.size > 1
    order by q.first_place, q.place;
end
$$;

create function alike.clusters("table" text, at_least double precision default 'NaN', linkage text default 'complete')
returns table (key text, cluster text, size bigint)
language sql
as $$
  select * from alike._clusters(alike._asked(alike._attachment("table"), at_least), alike._limit(alike._attachment("table"), at_least), linkage)
  where "table" is not null and at_least is not null and linkage is not null
$$;
comment on function alike.clusters(text, double precision, text) is 'the cluster of each row that is in one, named by its smallest key';

-- Which rows to keep.

-- An expression over one row of the table as PostgreSQL itself writes it. As in
-- alike._row_filter it is parsed as part of an index of an empty copy, and only the parsed
-- form is ever used. It is evaluated with the rights of who asks.
create function alike._row_rank(source regclass, given text) returns text language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  expression text;
  columns integer;
begin
  select format('d.%I', attname) into expression from pg_attribute
  where attrelid = source and attnum > 0 and not attisdropped and (attname = given or format('%I', attname) = given or attname = lower(given))
  order by attname = given desc limit 1;
  if found then
    return expression;
  elsif given ~ ';' then
    raise exception 'alike: rule: "%" has a semicolon; want one expression over the columns of a row', left(given, 100) using errcode = 'invalid_parameter_value';
  end if;
  execute format('create temporary table alike_rule (%s)', (
    select string_agg(format('%I %s', c.name, t.type), ', ' order by c.n)
    from (select array_agg(attname order by attnum) as names from pg_attribute
          where attrelid = source and attnum > 0 and not attisdropped and has_column_privilege(source, attnum, 'select')) q
    cross join lateral unnest(q.names) with ordinality as c(name, n)
    join unnest(alike._column_types(source, q.names)) with ordinality as t(type, n) using (n)));
  begin
    execute format(E'create index alike_rule_index on pg_temp.alike_rule ((\n%s\n))', given);
    select case when i.indpred is null and i.indnatts = 1 then pg_get_indexdef(i.indexrelid, 1, false) end into expression
    from pg_index i where i.indexrelid = 'pg_temp.alike_rule_index'::regclass;
    if expression is null then
      raise exception 'want one expression' using errcode = 'syntax_error';
    end if;
  exception
    when others then
      if given ~ '^[[:space:]]*[[:alnum:]_]*[[:space:]]*$' then
        raise exception 'alike: rule: "%" is no rule, column or expression; the rules are oldest, newest, longest, contains, popular and verdict', left(given, 60)
          using errcode = 'invalid_parameter_value';
      end if;
      raise exception 'alike: rule: "%": %', left(given, 100), sqlerrm using errcode = sqlstate;
  end;
  drop table pg_temp.alike_rule;
  return expression;
end
$$;

-- Each attached row with the row that stands for it. A row that is not sketched yet stays.
create function alike._keep(a alike.attachment, rule text, min_resemblance double precision)
returns table (key text, kept text, resemblance double precision)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  linked record;
  ranks text;
begin
  if rule = 'contains' then
    return query select * from alike._keep_containing(a, min_resemblance);
    return;
  end if;
  a := alike._asked(a, min_resemblance);
  min_resemblance := alike._limit(a, min_resemblance);
  a.mode := 'scan'; -- the versions of the rows are not asked for
  if rule = 'longest' then
    ranks := format('select %s as key, s.shingles as rank from %s s', alike._key_text(a.key_columns, 's'), alike._name(a, ''));
  elsif rule not in ('oldest', 'newest', 'popular', 'verdict') then
    ranks := format(E'select %s as key, (%s) as rank from %s d',
      alike._key_text(alike._current_keys(a), 'd'), alike._row_rank(a.source, rule), a.source);
  end if;
  select * into linked from alike._link(a, min_resemblance, case when ranks is null and rule <> 'oldest' then rule else 'greedy' end, ranks, true);
  return query execute format(
    'select d.key, coalesce(k.kept, d.key), coalesce(k.resemblance, case when d.sketched then 1 end)
     from (select %s as key, s.sketch is not null as sketched from (%s) d left join %s s on %s) d
     left join (select $1[u.n] as key, $1[u.joined] as kept, u.resemblance from unnest($2, $3) with ordinality as u(joined, resemblance, n) where u.joined <> u.n) k on k.key = d.key',
    alike._key_text(a.key_columns, 'd'), alike._rows_of(a), alike._name(a, ''), alike._key_equal(a.key_columns, 's', 'd'))
  using linked.names, linked.joined, linked.resemblances;
end
$$;

create function alike.keep("table" text, rule text default 'oldest', at_least double precision default 'NaN')
returns table (key text, kept text, resemblance double precision)
language sql
as $$
  select * from alike._keep(alike._attachment("table"), rule, at_least)
  where "table" is not null and rule is not null and at_least is not null
$$;
comment on function alike.keep(text, text, double precision) is 'each row with the row that stands for it, itself when it is kept: no two kept rows resemble each other';
