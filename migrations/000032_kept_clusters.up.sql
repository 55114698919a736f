-- NAME_alike_cluster: the cluster of each row that is in one, kept. A cluster
-- keeps its name as long as one of the rows does that had it; the worker brings
-- the table up to date with each checkin.
create function alike._write_clusters(a alike.attachment, at_least double precision) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
set client_min_messages = warning
as $$
declare
  kept constant text := alike._name(a, '_cluster');
  rows bigint;
begin
  -- Workers that write do so with this lock: what they write is seen below, or
  -- they see the table.
  perform pg_advisory_xact_lock(hashtext('alike'), a.id);
  if to_regclass(kept) is null then
    execute format('create %s table %s (key text constraint %I primary key, cluster text not null, size bigint not null, clustered_at timestamptz not null default now())',
      (select case relpersistence when 'u' then 'unlogged' end from pg_class where oid = alike._side(a)), kept, a.side_name || '_cluster_pkey');
    execute format('create index on %s (cluster)', kept);
    -- The new table alone: a lock on the others would wait for those who read and write them.
    perform alike._protect_tables(a, array['_cluster']);
    perform alike._own(a);
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
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  kept constant text := alike._name(a, '_cluster');
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
