-- What a checkin does with a near-duplicate: link and warn when the worker has
-- its sketch, reject inside the checkin's own transaction.

-- Judges a document by its sketch, before or after it is inserted, in the
-- transaction that inserts it: with the policy reject an error names the row
-- that it resembles most; with warn a warning does; the key of that row is
-- returned, or NULL. The sketch has whole minima: it comes from the worker's
-- library, command or HTTP endpoint. itself is the key of the row when it is in
-- the table already.
--
-- Documents that are checked in at the same moment cannot see each other. Those
-- that share a feature wait for each other here, in the order of the features,
-- and the later one finds what the earlier one left in alike.admitted.
create function alike._gate(a alike.attachment, sketch bytea, itself text) returns text language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  own bigint[];
  distinct_keys constant text[] := case when itself is null then '{}' else alike._distinct_from(a, itself) end;
  wanted bigint;
  best record;
  p alike.profile_fields;
  stored alike.profile_fields;
  admitted record;
begin
  if sketch is null then
    return null; -- a document without a token resembles nothing
  elsif current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'alike: gate: the transaction is %, which cannot see what was checked in since it began; want read committed',
      current_setting('transaction_isolation') using errcode = 'feature_not_supported';
  end if;
  if not has_table_privilege('alike.admitted', 'insert') then
    raise exception 'alike: gate: % may not insert into alike.admitted, where what was let pass is kept', current_user
      using errcode = 'insufficient_privilege', hint = format('grant insert on alike.admitted to %I', current_user);
  end if;
  p := alike._header(sketch);
  if not alike._slots(p.family) then
    raise exception 'alike: gate: the profile "%" keeps a list of values, whose features PostgreSQL cannot compute; want a family with slots, such as fast', alike._spell(p)
      using errcode = 'feature_not_supported', hint = 'The policy link or warn works with every family.';
  end if;
  stored := alike._parse((select profile from alike.settings where id = a.profile_id));
  stored.bits := 64;
  if p is distinct from stored then
    raise exception 'sketches of different profiles: "%" and "%"', alike._spell(p), alike._spell(stored) using errcode = 'data_exception';
  end if;
  own := alike._features(sketch);
  for wanted in select distinct f # a.id::bigint << 40 from unnest(own) as f where f is not null order by 1 loop
    perform pg_advisory_xact_lock(wanted);
  end loop;
  select s.key, s.resemblance into best from alike._similar(a, own, sketch, null, a.at_least) s
  where s.key is distinct from itself and s.key <> all (distinct_keys)
  limit 1;
  if best.key is null then
    select '' as key, alike.resemblance(_gate.sketch, m.sketch) as resemblance into best
    from alike.admitted m
    where m.attachment = a.id and m.features && own and alike.resemblance(_gate.sketch, m.sketch) >= a.at_least
      and (_gate.itself is null or m.itself is null or m.itself <> _gate.itself and m.itself <> all (distinct_keys))
    order by 2 desc
    limit 1;
  end if;
  if best.key is null or a.policy <> 'reject' then
    insert into alike.admitted (attachment, features, sketch, itself) values (a.id, own, _gate.sketch, _gate.itself);
  end if;
  if best.key is not null and a.policy in ('reject', 'warn') then
    if a.policy = 'reject' then
      raise exception 'alike: % has % at a resemblance of %', a.name,
        case best.key when '' then 'a document that was checked in a moment ago' else 'the row ' || best.key end, round(best.resemblance::numeric, 3)
        using errcode = 'integrity_constraint_violation', detail = json_build_object('key', nullif(best.key, ''), 'resemblance', best.resemblance)::text;
    end if;
    raise warning 'alike: % has % at a resemblance of %', a.name,
      case best.key when '' then 'a document that was checked in a moment ago' else 'the row ' || best.key end, round(best.resemblance::numeric, 3);
  end if;
  return nullif(best.key, '');
end
$$;

-- The keys that a person has called distinct from a key.
create function alike._distinct_from(a alike.attachment, itself text) returns text[] language plpgsql stable
set search_path = pg_catalog, pg_temp
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

create function alike.gate("table" text, sketch bytea, itself text default null) returns text
language sql
as $$ select alike._gate(alike._attachment("table"), sketch, itself) $$;
comment on function alike.gate(text, bytea, text) is
  'judges a document by the sketch that its program brings, inside the checkin''s transaction; returns the key of the row that it resembles most';

-- Records what rows resemble that the worker has just written, and announces it
-- on the channel alike_match. The worker holds the attachment's lock.
create function alike._match(a alike.attachment, given text[]) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  types constant text[] := alike._key_types(alike._side(a), keys);
  match constant text := format('%I.%I', a.side_schema, a.side_name || '_match');
  others constant name[] := alike._others(keys);
  found_keys text[];
  found_others text[];
  shares integer[];
  resemblances double precision[];
  lows double precision[];
  highs double precision[];
begin
  select array_agg(k.key), array_agg(r.key), array_agg(r.shared), array_agg(r.resemblance), array_agg(r.low), array_agg(r.high)
  into found_keys, found_others, shares, resemblances, lows, highs
  from unnest(given) as k(key) cross join lateral alike._similar(a, null, null, k.key, a.at_least) r;
  if found_keys is null then
    return 0;
  end if;
  execute format('insert into %s (%s, %s, shared, resemblance, low, high, policy)
      select %s, %s, f.shared, f.resemblance, f.low, f.high, $7 from unnest($1, $2, $3, $4, $5, $6) as f(key, other, shared, resemblance, low, high)',
    match, alike._names(keys),
    alike._names(others),
    array_to_string(alike._key_values(keys, types, 'f.key'), ', '), array_to_string(alike._key_values(keys, types, 'f.other'), ', '))
  using found_keys, found_others, shares, resemblances, lows, highs, a.policy;
  if a.policy <> 'link' then
    perform pg_notify('alike_match', json_build_object('name', a.name, 'key', f.key, 'other', f.other, 'resemblance', f.resemblance)::text)
    from unnest(found_keys, found_others, resemblances) as f(key, other, resemblance);
  end if;
  return cardinality(found_keys);
end
$$;

-- NAME_alike_cluster: the cluster of each row that is in one, kept. A cluster
-- keeps its name as long as one of the rows does that had it; the worker brings
-- the table up to date with each checkin.
create function alike._write_clusters(a alike.attachment, at_least double precision) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  kept constant text := format('%I.%I', a.side_schema, a.side_name || '_cluster');
  rows bigint;
begin
  -- Workers that write do so with this lock: what they write is seen below, or
  -- they see the table.
  perform pg_advisory_xact_lock(hashtext('alike'), a.id);
  if to_regclass(kept) is null then
    execute format('create table %s (key text constraint %I primary key, cluster text not null, size bigint not null, clustered_at timestamptz not null default now())', kept, a.side_name || '_cluster_pkey');
    execute format('create index on %s (cluster)', kept);
    perform alike._grant('select', kept, 'alike_reader');
    perform alike._grant('select, insert, update, delete', kept, 'alike_worker');
    perform alike._grant('select, insert, update, delete', kept, 'alike_admin');
  end if;
  execute format('lock table %s in share row exclusive mode', kept);
  -- Of the old names among its rows a new cluster takes the most frequent one;
  -- of several clusters that would take one name, that with the most of them.
  execute format(
    'with fresh as materialized (select * from alike._clusters($1, $2)),
     claims as (
       select f.cluster, o.cluster as old, count(*) as n from fresh f join %1$s o on o.key = f.key group by 1, 2),
     named as (
       select distinct on (cluster) cluster, old from (
         select distinct on (old) cluster, old, n from claims order by old, n desc, cluster) c
       order by cluster, n desc, old),
     final as (
       select f.key, coalesce(d.old, case when exists (select from named x where x.old = f.cluster) then f.cluster || ''#'' || f.size else f.cluster end) as cluster, f.size
       from fresh f left join named d on d.cluster = f.cluster),
     gone as (delete from %1$s o where not exists (select from final f where f.key = o.key))
     insert into %1$s as o (key, cluster, size) select key, cluster, size from final
     on conflict (key) do update set cluster = excluded.cluster, size = excluded.size, clustered_at = now()
     where (o.cluster, o.size) is distinct from (excluded.cluster, excluded.size)', kept)
  using a, at_least;
  execute format('select count(*) from %s', kept) into rows;
  return rows;
end
$$;

create function alike.write_clusters("table" text, at_least double precision default 'NaN') returns bigint
language sql strict
as $$ select alike._write_clusters(alike._attachment("table"), alike._limit(alike._attachment("table"), at_least)) $$;
comment on function alike.write_clusters(text, double precision) is 'keeps the clusters in NAME_alike_cluster, under names that stay; returns its rows';

-- Brings the kept clusters up to date for rows that the worker has just
-- written: a row joins the cluster of the row that it resembles most, or makes
-- one with it. write_clusters does the whole again.
create function alike._join_clusters(a alike.attachment, given text[]) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  kept constant text := format('%I.%I', a.side_schema, a.side_name || '_cluster');
  row_key text;
  nearest text;
  joined text;
begin
  execute format('lock table %s in share row exclusive mode', kept);
  foreach row_key in array given loop
    execute format('delete from %s where key = $1', kept) using row_key;
    select s.key into nearest from alike._similar(a, null, null, row_key, a.at_least) s limit 1;
    continue when nearest is null;
    execute format('select cluster from %s where key = $1', kept) into joined using nearest;
    if joined is null then
      joined := nearest;
      execute format('insert into %s (key, cluster, size) values ($1, $1, 1)', kept) using nearest;
    end if;
    execute format('insert into %s (key, cluster, size) values ($1, $2, 0)', kept) using row_key, joined;
  end loop;
  -- Sizes, and clusters of which one row is left.
  execute format('with sizes as (select cluster, count(*) as n from %1$s group by cluster)
    update %1$s o set size = s.n from sizes s where s.cluster = o.cluster and o.size <> s.n', kept);
  execute format('delete from %s where size = 1', kept);
end
$$;
