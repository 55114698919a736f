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
  mark constant text := alike._name(a, '_mark');
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
