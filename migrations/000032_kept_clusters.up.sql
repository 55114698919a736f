-- Clusters that are kept up to date: those of the linkage single, which a checkin can follow
-- without a look at the rest of the table. NAME_alike_cluster has a line for each row that
-- resembles another: the component, which is everything that pairs link, and the cluster. Both
-- are numbers that are never used again. The clusters of a component are one, unless people
-- called two of its rows distinct. Components with more rows than the option says have no cluster,
-- and the number -1 together, so that a checkin need not renumber or search through very many rows.
-- NAME_alike_event tells what became of each cluster. A session that changes either table holds the
-- lock under which workers record.

create function alike._max_clustered(a alike.attachment) returns bigint language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select case jsonb_typeof(a.options -> 'clusters') when 'number' then (a.options ->> 'clusters')::bigint else 1000 end $$;

create function alike._make_clusters(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  kept constant text := alike._name(a, '_cluster');
  events constant text := alike._name(a, '_event');
  unlogged constant text := case relpersistence when 'u' then 'unlogged' else '' end from pg_class where oid = alike._side(a);
  types constant text[] := alike._column_types(alike._side(a), a.key_columns);
  taken constant name := k from unnest(a.key_columns) as k where k in ('component', 'cluster', 'judged', 'clustered_at', 'event_id', 'event', 'happened_at') limit 1;
begin
  if taken is not null then
    raise exception 'alike: % keeps no clusters: the key column "%" has the name of a column of theirs', a.name, taken using errcode = 'duplicate_column';
  end if;
  if alike._side(a, '_cluster') is null then
    execute format('create %s table %s (%s, component bigint, cluster bigint, judged bigint not null default 0, clustered_at timestamptz not null default now(), primary key (%s))',
      unlogged, kept, alike._column_list(a.key_columns, types), alike._names(a.key_columns));
    execute format('create index on %s (component, cluster)', kept);
    execute format('create index on %s (cluster)', kept);
    execute format('create index on %s (component) where judged <> 0', kept);
    execute format('comment on table %s is %L', kept, 'Alike: clusters that are kept; a cluster that is NULL is none');
  end if;
  if alike._side(a, '_event') is null then
    execute format('create %s table %s (event_id bigint generated always as identity primary key, event text not null check (event in (''made'', ''joined'', ''split'', ''gone'')), cluster bigint not null, other bigint, %s, happened_at timestamptz not null default now())',
      unlogged, events, replace(alike._column_list(a.key_columns, types), ' not null', ''));
  end if;
  -- The new tables alone: a lock on the others would wait for those who read and write them.
  perform alike._protect_tables(a, array['_cluster', '_event']);
  perform alike._own(a);
end
$$;

-- Makes or drops the two tables as the option says. An attachment that is to replace another
-- takes over the tables of that.
create function alike._switch_clusters(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
declare
  relation regclass;
begin
  if a.replaces is not null or not a.options ? 'clusters' then
    return;
  elsif a.options -> 'clusters' <> 'false' then
    perform alike._make_clusters(a);
  else
    -- A table of another owner that has such a name is not ours.
    for relation in select alike._side(a, suffix) from unnest(array['_cluster', '_event']) as suffix where alike._side(a, suffix) is not null loop
      execute format('drop table %s', relation);
    end loop;
  end if;
end
$$;

-- A statement about kept clusters: m is a row of NAME_alike_cluster, and {is_m} finds the row
-- with the key k.key, however that is spelled. {ask} is a call that finds what resembles the
-- row with the key g.key.
create function alike._about_clusters(a alike.attachment, template text) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select alike._fill(template, alike._fragments(a) || jsonb_build_object(
    'event', alike._name(a, '_event'),
    'next', format('nextval(pg_get_serial_sequence(%L, ''event_id''))', alike._name(a, '_event')),
    'is_m', alike._key_is(a.key_columns, alike._key_types(alike._side(a), a.key_columns), 'm', 'k.key'),
    'ask', format('%s(null::bigint[], null::bytea, g.key, %L::double precision, null::integer, %L::double precision, %L::bigint)', alike._generated(a, 'similar'), a.at_least,
      (alike._short(a)).at_least, (alike._short(a)).below),
    'verdicts', format('(select coalesce(sum(hashtext(case when %2$s then %4$s else %5$s end)), 0) from %1$s v where v.verdict = ''duplicate'' and (%2$s or %3$s))', alike._name(a, '_mark'),
      alike._key_equal(a.key_columns, 'v', 'm'), alike._key_equal(alike._others(a.key_columns), 'v', 'm', a.key_columns),
      alike._key_text(alike._others(a.key_columns), 'v'), alike._key_text(a.key_columns, 'v')),
    'keys_same', alike._key_equal(a.key_columns, 'm', 'o'),
    'keys_x', alike._key_equal(a.key_columns, 'v', 'x'),
    'keys_y', alike._key_equal(alike._others(a.key_columns), 'v', 'y', a.key_columns),
    'keys_excluded', (select string_agg(format('%1$I = excluded.%1$I', c), ', ') from unnest(a.key_columns) as c)))
$$;

-- Of the given keys those whose rows can be compared, as the side table spells them.
create function alike._comparable(a alike.attachment, given text[]) returns text[] language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  result text[];
begin
  execute alike._about_clusters(a, 'select array_agg({text_s} order by {keys_s}) from {side} s where s.profile = {profile_id} and ' || alike._sound(a, 's') || ' and ({keys_s}) in (select {values} from unnest($1) as k(key))')
  into result using given;
  return coalesce(result, '{}');
end
$$;

-- Takes rows out of their components before their documents change or go, and gives the
-- components that this touched. Every part that a component falls into has a neighbour of
-- a row that leaves, or a row that has lost a verdict. From one of these rows the others are looked
-- for; a part from which they cannot be reached becomes a component of its own. Of the crowded
-- components so does a part with no more rows than a cluster may have: the search ends beyond.
create function alike._leave_clusters(a alike.attachment, given text[]) returns bigint[] language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  linked constant text := alike._about_clusters(a, 'select array_agg(distinct {text_m}) from unnest($1) as g(key) cross join lateral {ask} k join {cluster} m on {is_m} where m.component = $2');
  judged constant text := alike._about_clusters(a, 'select array_agg({text_m}) from {cluster} m where m.component = $1 and m.judged <> 0 and m.judged <> {verdicts}');
  -- Nothing compares with a damaged sketch. The neighbours of such a row are among those that share a feature.
  shared constant text := alike._about_clusters(a, 'select array_agg(distinct {text_m}) from (select {text_others_m} as key from {pair} m where ({keys_m}) in (select {values} from unnest($1) as k(key))) k join {cluster} m on {is_m} where m.component = $2');
  max_rows constant bigint := alike._max_clustered(a);
  component record;
  comparable text[];
  touched bigint[] := '{}';
  seeds text[];
  reached text[];
  found text[];
  n integer;
  size integer;
  enough boolean;
  part bigint;
begin
  for component in execute alike._about_clusters(a,
      'with left_ones as (
         update {cluster} m set component = null from {cluster} o
         where {keys_same} and ({keys_m}) in (select {values} from unnest($1) as k(key)) and o.component is not null
         returning o.component, {keys_m})
       select m.component as id, array_agg({text_m} order by {text_m}) as keys from left_ones m group by m.component order by m.component') using given loop
    touched := touched || component.id;
    comparable := alike._comparable(a, component.keys);
    execute linked into seeds using comparable, component.id;
    found := array(select unnest(component.keys) except select unnest(comparable));
    if found <> '{}' then
      execute shared into found using found, component.id;
      seeds := seeds || alike._comparable(a, found);
    end if;
    execute judged into found using component.id;
    if found is not null then
      perform alike._note_verdicts(a, found);
    end if;
    seeds := array(select unnest(seeds) union select unnest(alike._comparable(a, found)));
    while cardinality(seeds) > case component.id when -1 then 0 else 1 end loop
      reached := seeds[1:1];
      n := 1;
      size := 1; -- of the pieces in which rows are asked for: the lists are read as often as these
      loop
        enough := case component.id when -1 then cardinality(reached) > max_rows else not exists (select unnest(seeds) except select unnest(reached)) end;
        exit when enough or n > cardinality(reached);
        execute linked into found using reached[n:n + size - 1], component.id;
        n := least(n + size, cardinality(reached) + 1);
        size := size * 2;
        reached := reached || array(select unnest(found) except select unnest(reached));
      end loop;
      exit when enough and component.id <> -1;
      seeds := array(select unnest(seeds) except select unnest(reached));
      continue when enough;
      execute alike._about_clusters(a, 'select {next}') into part;
      execute alike._about_clusters(a, 'update {cluster} m set component = $1 from unnest($2) as k(key) where {is_m}') using part, reached;
      touched := touched || part;
    end loop;
  end loop;
  return touched;
end
$$;

-- Links rows whose documents were written, after the touched components were left, and tells what
-- became of the clusters. What a row resembles becomes one component, the one with the most rows,
-- unless these are a crowd together.
create function alike._join_clusters(a alike.attachment, given text[], touched bigint[]) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  max_rows constant bigint := alike._max_clustered(a);
  ask constant text := alike._about_clusters(a, 'select array_agg(k.key) from (select $1 as key) g cross join lateral {ask} k');
  find constant text := alike._about_clusters(a,
    'with linked as materialized (select m.component from unnest($1) as k(key) left join {cluster} m on {is_m})
     select array_agg(c.component order by n.n desc, c.component), coalesce(sum(n.n), 0) + (select count(*) from linked l where l.component is null)
     from (select distinct l.component from linked l where l.component is not null) c
     cross join lateral (select case c.component when -1 then $2 else (select count(*) from {cluster} m where m.component = c.component) end as n) n');
  make constant text := alike._about_clusters(a, 'select array[{next}]');
  unite constant text := alike._about_clusters(a, 'update {cluster} m set component = $1 where m.component = any ($2)');
  put constant text := alike._about_clusters(a,
    'insert into {cluster} as o ({keys}, component) select {values}, $2 from unnest($1) as k(key) where not exists (select from {cluster} m where {is_m} and m.component = $2)
     on conflict ({keys}) do update set component = excluded.component');
  put_itself constant text := alike._about_clusters(a,
    'insert into {cluster} as o ({keys}, component) select {values}, $2 from (select $1 as key) k on conflict ({keys}) do update set component = excluded.component' || case when a.distributed then '' else ', {keys_excluded}' end);
  row_key text;
  linked text[];
  components bigint[];
  size bigint;
begin
  foreach row_key in array alike._comparable(a, given) loop
    execute ask into linked using row_key;
    continue when linked is null;
    execute find into components, size using array(select unnest(linked) union select row_key), max_rows + 1;
    if size > max_rows then
      execute unite using -1::bigint, array_remove(components, -1::bigint);
      components := array[-1];
    elsif components is null then
      execute make into components;
    elsif cardinality(components) > 1 then
      execute unite using components[1], components[2:];
    end if;
    execute put using linked, components[1];
    execute put_itself using row_key, components[1];
    touched := touched || components[1];
  end loop;
  perform alike._note_verdicts(a, given);
  perform alike._settle_clusters(a, touched);
end
$$;

-- Notes of which rows a person called a row a duplicate: for the given ones, or for all.
-- The verdicts are read first: Citus has them on every node, and would update the clusters there.
create function alike._note_verdicts(a alike.attachment, given text[]) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  changed record;
begin
  execute alike._about_clusters(a,
    'select array_agg({text_m}) as keys, array_agg(w.judged) as judged from {cluster} m cross join lateral (select {verdicts} as judged) w where '
    || case when given is null then '(m.judged <> 0 or ({keys_m}) in (select {keys} from {mark}) or ({keys_m}) in (select {others} from {mark}))'
      else '({keys_m}) in (select {values} from unnest($1) as k(key))' end || ' and m.judged <> w.judged')
  into changed using given;
  if changed.keys is not null then
    execute alike._about_clusters(a, 'update {cluster} m set judged = k.judged from unnest($1, $2) as k(key, judged) where {is_m}') using changed.keys, changed.judged;
  end if;
end
$$;

-- Gives the rows of touched components their clusters, and tells what changed. Of several parts of
-- what was one cluster that with the most rows keeps its number.
create function alike._settle_clusters(a alike.attachment, touched bigint[]) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  max_rows constant bigint := alike._max_clustered(a);
  divided record;
  linked record;
  names text[] := '{}';
  parts bigint[] := '{}';
  settled constant bigint[] := array_remove(touched, -1::bigint);
  crowded tid[]; -- lines that are in a cluster still; the planner would expect a crowd
begin
  execute alike._about_clusters(a, 'select array_agg(m.ctid) from {cluster} m where m.component = -1 and m.cluster is not null') into crowded;
  for divided in execute alike._about_clusters(a,
      'select x.component, (select array_agg({text_m}) from (select * from {cluster} m where m.component = x.component limit $2) m) as keys
       from {mark} v join {cluster} x on {keys_x} join {cluster} y on {keys_y}
       where v.verdict = ''distinct'' and x.component = y.component and x.component = any ($1) group by x.component') using settled, max_rows + 1 loop
    continue when cardinality(divided.keys) > max_rows;
    select * into linked from alike._link(a, a.at_least, 'single', null, false, divided.keys);
    names := names || linked.names;
    parts := parts || linked.joined::bigint[];
  end loop;
  execute alike._about_clusters(a,
    'with part as (select m.ctid as row, p.part from unnest($3, $4) as k(key, part) join {cluster} m on {is_m} cross join lateral (select k.part) p),
     now_ as (
       select m.ctid as row, m.component, coalesce(p.part, 0) as part, m.cluster as old,
         count(*) over (partition by m.component) as rows, count(*) over (partition by m.component, p.part) as together
       from {cluster} m left join part p on p.row = m.ctid where m.component = any ($1)
       union all
       select m.ctid, m.component, 0, m.cluster, $2 + 1, 0 from unnest($5) as u(row) join {cluster} m on m.ctid = u.row
       union all
       select m.ctid, null, 0, m.cluster, 0, 0 from {cluster} m where m.component is null),
     fit as materialized (select n.*, n.component is not null and n.rows between 2 and $2 and n.together > 1 as clustered from now_ n),
     claim as (select component, part, old, count(*) as n from fit where clustered and old is not null group by 1, 2, 3),
     named as (
       select distinct on (component, part) component, part, old from (
         select distinct on (old) component, part, old, n from claim order by old, n desc, component, part) c
       order by component, part, n desc, old),
     cluster_ as materialized (
       select q.component, q.part, coalesce(d.old, {next}) as id, d.old is null as made
       from (select component, part from fit where clustered group by 1, 2) q left join named d using (component, part)),
     final as materialized (select f.row, f.old, f.component, f.rows, c.id from fit f left join cluster_ c on f.clustered and c.component = f.component and c.part = f.part),
     fate as (
       select old, bool_or(id = old) as stays, count(distinct id) as into_, min(id) as id from final where old is not null group by old),
     told (rank, event, cluster, other, row) as (
       select 1, ''gone'', f.old, null::bigint, f.row from final f join fate t on t.old = f.old where f.id is null and (t.stays or t.into_ = 1)
       union all select 2, ''made'', c.id, null, null from cluster_ c where c.made
       union all select 3, ''joined'', t.id, t.old, null from fate t where not t.stays and t.into_ = 1
       union all select 4, ''split'', f.id, f.old, f.row from final f join fate t on t.old = f.old where f.id <> f.old and (t.stays or t.into_ > 1)
       union all select 5, ''joined'', f.id, null, f.row from final f where f.old is null and f.id is not null
       union all select 6, ''gone'', t.old, null, null from fate t where not coalesce(t.stays, false) and t.into_ <> 1),
     tell as (
       insert into {event} (event, cluster, other, {keys})
       select e.event, e.cluster, e.other, {keys_m} from told e left join {cluster} m on m.ctid = e.row order by e.rank, e.cluster, e.other, {keys_m}),
     remove as (delete from {cluster} m using final f where m.ctid = f.row and (f.component is null or f.rows = 1))
     update {cluster} m set cluster = f.id, clustered_at = now() from final f
     where m.ctid = f.row and f.component is not null and f.rows > 1 and m.cluster is distinct from f.id')
  using settled, max_rows, names, parts, crowded;
end
$$;

-- Computes them all afresh, and keeps them from then on.
create function alike._write_clusters(a alike.attachment) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  linked record;
  components bigint[];
  rows bigint;
begin
  -- Workers that write do so with this lock: what they write is seen below, or
  -- they see the table.
  perform pg_advisory_xact_lock(hashtext('alike'), a.id);
  if alike._side(a, '_cluster') is null or alike._side(a, '_event') is null then
    perform alike._make_clusters(a);
  end if;
  select * into linked from alike._link(a, a.at_least, 'components', null, false);
  execute alike._about_clusters(a, 'update {cluster} set component = null');
  execute alike._about_clusters(a,
    'with part as materialized (select q.root, case when q.rows > $3 then -1 else {next} end as id from (select root, count(*) as rows from unnest($2) as u(root) group by root) q),
     put as (
       insert into {cluster} as m ({keys}, component) select {values}, p.id from unnest($1, $2) as k(key, root) join part p using (root)
       on conflict ({keys}) do update set component = excluded.component)
     select array_agg(id) from part')
  into components using linked.names, linked.joined, alike._max_clustered(a);
  perform alike._note_verdicts(a, null);
  perform alike._settle_clusters(a, coalesce(components, '{}'));
  execute alike._about_clusters(a, 'select count(*) from {cluster} where cluster is not null') into rows;
  return rows;
end
$$;

create function alike.write_clusters("table" text) returns bigint language sql strict
as $$ select alike._write_clusters(alike._attachment("table")) $$;
comment on function alike.write_clusters(text) is 'computes the clusters of NAME_alike_cluster afresh, which are kept up to date from then on; returns the rows that are in one';
