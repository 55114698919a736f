-- Gives a table the aspect.

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
    raise exception 'alike: attach: the extract is "%", want plain, html, pdf, docx, auto or a media type', left(given #>> '{}', 100) using errcode = 'invalid_parameter_value';
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

-- The table that is to be attached, or an error.
create function alike._check_table(relation regclass, given_name text) returns pg_class language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  class pg_class;
  children text;
begin
  if relation is null then
    raise exception 'alike: attach: there is no table %', given_name using errcode = 'undefined_table';
  end if;
  select * into class from pg_class where oid = relation;
  if class.relkind not in ('r', 'p') then
    raise exception 'alike: attach: % is %, want a table', relation,
      coalesce(('{"v": "a view", "m": "a materialized view", "f": "a foreign table", "S": "a sequence", "i": "an index", "I": "an index", "c": "a type"}'::jsonb) ->> class.relkind::text, 'no table')
      using errcode = 'wrong_object_type';
  elsif class.relpersistence = 't' then
    raise exception 'alike: attach: % is a temporary table, which no worker can see', relation using errcode = 'wrong_object_type';
  elsif class.relnamespace in ('alike'::regnamespace, 'pg_catalog'::regnamespace, 'information_schema'::regnamespace) then
    raise exception 'alike: attach: % is a table of the system', relation using errcode = 'wrong_object_type';
  elsif exists (select from alike.attachment a, unnest(array['', '_match', '_mark', '_cluster', '_event', '_value', '_probe']) as suffix
      where a.side_schema = (select nspname from pg_namespace where oid = class.relnamespace) and class.relname = a.side_name || suffix) then
    raise exception 'alike: attach: % is a table of an attachment', relation using errcode = 'wrong_object_type';
  elsif class.relkind = 'r' then
    select string_agg(inhrelid::regclass::text, ', ' order by inhrelid::regclass::text) into children from pg_inherits where inhparent = relation;
    if children is not null then
      raise exception 'alike: attach: other tables inherit from %: %; their rows have no common key', relation, children
        using errcode = 'feature_not_supported', hint = 'Attach each of them, or make it a partitioned table.';
    end if;
  end if;
  -- Rights first: nothing is made before all of them are there.
  if not pg_has_role(class.relowner, 'usage') then
    raise exception 'alike: attach: % belongs to %; % is not a member of that role', relation, class.relowner::regrole, current_user using errcode = 'insufficient_privilege';
  elsif not has_schema_privilege(class.relnamespace, 'create') then
    raise exception 'alike: attach: % may not create tables in the schema %', current_user, class.relnamespace::regnamespace using errcode = 'insufficient_privilege';
  elsif not has_table_privilege('alike.attachment', 'insert') then
    raise exception 'alike: attach: % is not a member of alike_admin', current_user using errcode = 'insufficient_privilege';
  end if;
  return class;
end
$$;

-- The options that attach takes, their types in JSON, and what to say of another type.
create function alike._options() returns table (name text, types text[], wanted text) language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  values ('profile', array['string'], 'a string'), ('si', array['array'], 'an array of strings'), ('policy', array['string'], 'a string'),
    ('at_least', array['number', 'null'], 'a number above 0 and at most 1, or null'), ('short', array['object', 'null'], '{"below": a whole number from 2 to 1000000, "at_least": a number above 0 and at most 1} or null'), ('recall', array['number', 'null'], 'a number between 0 and 1, or null'), ('mode', array['string'], 'a string'),
    ('distributed', array['boolean'], 'true or false'), ('name', array['string'], 'a string'), ('where', array['string'], 'a string'),
    ('extract', array['object', 'string'], 'a string or an object'), ('key', array['array', 'string'], 'an array of column names'),
    ('ask', array['object'], 'an object'), ('reveal', array['boolean'], 'true or false'), ('by', array['string'], 'a string'), ('matches', array['number', 'null'], 'a whole number from 1 to 1000 or null'),
    ('verify', array['string'], 'a string'), ('layout', array['string'], 'a string'), ('contains', array['boolean'], 'true or false'), ('superfeatures', array['boolean'], 'true or false'),
    ('clusters', array['boolean', 'number'], 'true, false, or the most rows of a cluster, from 2 to 1000000'),
    ('common', array['boolean', 'number', 'string', 'null'], 'true, false, a share above 0 and at most 1, or the name of a list')
$$;

create function alike._check_options(options jsonb) returns void language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  option text;
  known record;
begin
  if jsonb_typeof(options) <> 'object' then
    raise exception 'alike: attach: the options are %, want a JSON object', left(options::text, 60) using errcode = 'invalid_parameter_value';
  end if;
  for option in select jsonb_object_keys(options) loop
    select * into known from alike._options() o where o.name = option;
    if not found then
      raise exception 'alike: attach: there is no option "%", want %', option, (select string_agg(o.name, ', ') from alike._options() o) using errcode = 'invalid_parameter_value';
    elsif jsonb_typeof(options -> option) <> all (known.types) then
      raise exception 'alike: attach: the option % is %, want %', option, left((options -> option)::text, 60), known.wanted using errcode = 'invalid_parameter_value';
    end if;
  end loop;
  if options ? 'ask' then
    if coalesce(options ->> 'policy', 'ignore') <> 'reject' then
      raise exception 'alike: attach: ask is for the policy reject, not %', coalesce(options ->> 'policy', 'ignore') using errcode = 'invalid_parameter_value';
    elsif (options -> 'ask') - '{connection,timeout,otherwise}'::text[] <> '{}' or jsonb_typeof(options #> '{ask,connection}') is distinct from 'string'
       or coalesce(jsonb_typeof(options #> '{ask,timeout}'), 'number') <> 'number' or coalesce(options #>> '{ask,otherwise}', 'accept') not in ('accept', 'refuse') then
      raise exception 'alike: attach: ask %, want {"connection": SERVER, "timeout": SECONDS, "otherwise": "accept" or "refuse"}', options -> 'ask'
        using errcode = 'invalid_parameter_value';
    elsif not coalesce((options #>> '{ask,timeout}')::double precision, 2) between 0.01 and 300 then
      raise exception 'alike: attach: ask: timeout %, want 0.01 to 300 seconds', options #>> '{ask,timeout}' using errcode = 'invalid_parameter_value';
    end if;
  end if;
  if jsonb_typeof(options -> 'common') = 'number' and not ((options ->> 'common')::numeric > 0 and (options ->> 'common')::numeric <= 1)
     or jsonb_typeof(options -> 'common') = 'string' and (options ->> 'common' !~ '^[0-9a-f]{8}$' or options ->> 'common' = '00000000') then
    raise exception 'alike: attach: the option common is %, want true, false, a share above 0 and at most 1, or the name of a list', left((options -> 'common')::text, 60) using errcode = 'invalid_parameter_value';
  end if;
  if coalesce(options ->> 'by', 'resemblance') not in ('resemblance', 'containment') then
    raise exception 'alike: attach: the option by is "%", want resemblance or containment', left(options ->> 'by', 100) using errcode = 'invalid_parameter_value';
  end if;
  if jsonb_typeof(options -> 'short') = 'object' and not (
      (options -> 'short') - '{below,at_least}'::text[] = '{}'
      and case when jsonb_typeof(options #> '{short,below}') = 'number' then (options #>> '{short,below}')::numeric between 2 and 1000000 and (options #>> '{short,below}')::numeric % 1 = 0 else false end
      and case when jsonb_typeof(options #> '{short,at_least}') = 'number' then (options #>> '{short,at_least}')::numeric > 0 and (options #>> '{short,at_least}')::numeric <= 1 else false end) then
    raise exception 'alike: attach: the option short is %, want %', left((options -> 'short')::text, 60), (select wanted from alike._options() where name = 'short') using errcode = 'invalid_parameter_value';
  end if;
  if coalesce(options ->> 'verify', 'sketch') not in ('sketch', 'text') then
    raise exception 'alike: attach: the verify is "%", want sketch or text', left(options ->> 'verify', 100) using errcode = 'invalid_parameter_value';
  end if;
  if coalesce(options ->> 'layout', 'columns') not in ('columns', 'parts') then
    raise exception 'alike: attach: the layout is "%", want columns or parts', left(options ->> 'layout', 100) using errcode = 'invalid_parameter_value';
  end if;
  if jsonb_typeof(options -> 'clusters') = 'number' and ((options ->> 'clusters')::numeric not between 2 and 1000000 or (options ->> 'clusters')::numeric % 1 <> 0) then
    raise exception 'alike: attach: the option clusters is %, want true, false, or the most rows of a cluster, from 2 to 1000000', left(options ->> 'clusters', 60) using errcode = 'invalid_parameter_value';
  end if;
  if jsonb_typeof(options -> 'matches') = 'number' and ((options ->> 'matches')::numeric not between 1 and 1000 or (options ->> 'matches')::numeric % 1 <> 0) then
    raise exception 'alike: attach: the option matches is %, want a whole number from 1 to 1000 or null', options ->> 'matches' using errcode = 'invalid_parameter_value';
  end if;
end
$$;

-- The column of the document and its base type.
create function alike._document_column(relation regclass, given text, out name name, out type regtype) language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  attribute pg_attribute;
begin
  select * into attribute from pg_attribute
  where attrelid = relation and attnum > 0 and not attisdropped and attname in (given, lower(given))
  order by attname = given desc limit 1;
  if not found then
    raise exception 'alike: attach: % has no column %', relation, given using errcode = 'undefined_column';
  end if;
  name := attribute.attname;
  type := alike._base_type(attribute.atttypid);
  if not exists (
      select from pg_type t left join pg_type e on t.typcategory = 'A' and e.oid = alike._base_type(t.typelem)
      where t.oid = type and (t.typcategory = 'S' or t.oid = any ('{json,jsonb,bytea,xml}'::regtype[])
        or e.typcategory = 'S' or e.typtype = 'e' or e.oid = any ('{smallint,integer,bigint,numeric,uuid}'::regtype[]))) then
    raise exception 'alike: attach: %.% is %, want text, varchar, json, jsonb, xml or bytea, or an array of text, whole numbers, numeric or uuid', relation, name, format_type(attribute.atttypid, attribute.atttypmod)
      using errcode = 'datatype_mismatch';
  end if;
end
$$;

-- The key: as given, or the primary key, or a unique index without NULLs.
create function alike._find_key(relation regclass, given jsonb) returns name[] language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  wanted constant text[] := array(select e from jsonb_array_elements_text(case jsonb_typeof(given) when 'array' then given else jsonb_build_array(given) end) as e order by 1);
  keys name[];
  bad record;
begin
  select k.columns into keys
  from pg_index i
  cross join lateral (
    select array_agg(att.attname order by n) as columns, bool_and(att.attnotnull) as filled
    from unnest(i.indkey::int2[]) with ordinality as u(num, n)
    join pg_attribute att on att.attrelid = relation and att.attnum = u.num where n <= i.indnkeyatts) k
  where i.indrelid = relation and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null and k.filled
    and (given is null or array(select c::text from unnest(k.columns) as c order by 1) = wanted)
  order by i.indisprimary desc, i.indnkeyatts, i.indexrelid
  limit 1;
  if keys is null then
    raise exception 'alike: attach: % has no primary key or unique index without NULLs%', relation,
      case when given is null then '' else ' on ' || (given #>> '{}') end using errcode = 'invalid_table_definition';
  end if;
  for bad in
    select k as name, octet_length(k) as bytes, t.typcategory, format_type(att.atttypid, att.atttypmod) as type,
      k in ('profile', 'content_hash', 'shingles', 'sketch', 'sketched_at', 'slot', 'feature', 'shared', 'resemblance', 'low', 'high', 'omitted', 'relation',
            'policy', 'matched_at', 'verdict', 'note', 'marked_at', 'marked_by', 'other') or k ~ '^([fg][0-9]+|si_.*|other_.*|alike_.*)$' as taken,
      -- What money is spelled like depends on the locale, and a reg... on the search path.
      t.typcategory in ('A', 'C', 'P') or t.oid = any ('{json,jsonb,xml,money}'::regtype[]) or t.oid < 16384 and t.typname ~ '^reg' as unfit
    from unnest(keys) as k
    join pg_attribute att on att.attrelid = relation and att.attname = k
    join pg_type t on t.oid = alike._base_type(att.atttypid) loop
    if bad.taken then
      raise exception 'alike: attach: the key column % of % has the name of a column of the side table', bad.name, relation using errcode = 'duplicate_column';
    elsif bad.unfit then
      raise exception 'alike: attach: the key column "%" is %, which has no one spelling as text', bad.name, bad.type
        using errcode = 'feature_not_supported', hint = 'The option key names another unique index without NULLs.';
    elsif cardinality(keys) > 1 and bad.bytes > 57 then
      raise exception 'alike: attach: the key column "%" has % bytes, want at most 57', bad.name, bad.bytes using errcode = 'name_too_long';
    end if;
  end loop;
  return keys;
end
$$;

-- Bytes as text, or NULL where they are not UTF-8.
create function alike._text_of(document bytea) returns text language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return convert_from(document, 'UTF8');
exception
  when character_not_in_repertoire or untranslatable_character then
    return null;
end
$$;

-- Looks at the first 1000 documents of a column, by key, for the preset that suits them.
-- Documents that are extracted are not looked at.
create function alike._look_at(a alike.attachment, out preset text, out reason text, out looked integer) language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  type constant regtype := alike._base_type(atttypid) from pg_attribute where attrelid = a.source and attname = alike._current_document(a);
  texts text[];
begin
  if a.extract is not null then
    preset := 'prose';
    reason := 'the text of the documents is extracted';
    return;
  end if;
  execute format('select array_agg(d) from (select left(%s, 4000) as d from (%s) s where alike_document is not null order by %s limit 1000) r',
    case type when 'bytea'::regtype then 'alike._text_of(alike_document)' else 'alike_document' end, alike._rows_of(a), alike._key_list(a.key_columns, 's'))
  into texts;
  select l.* into preset, reason, looked from alike._look(texts) as l;
end
$$;

-- Whether the worker is to learn what very many rows share.
create function alike._learns(options jsonb) returns boolean language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select coalesce(jsonb_typeof(options -> 'common') = 'number' or options -> 'common' = 'true', false) $$;

-- Chooses what the profile leaves open: the preset where none is told, and the filter,
-- which follows at_least unless the profile gives k or s. old is the attachment that
-- is changed: its preset stays, and its filter where that finds enough.
create function alike._choose(a alike.attachment, options jsonb, old alike.attachment) returns alike.attachment language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  settings text := options ->> 'profile';
  is_array constant boolean := (select b.typcategory = 'A' from pg_attribute t join pg_type b on b.oid = alike._base_type(t.atttypid)
    where t.attrelid = a.source and t.attname = alike._current_document(a));
  base record;
  profile alike.profile_fields;
  before alike.profile_fields;
  kept alike.profile_fields;
  filter record;
begin
  if settings is null and is_array then
    settings := 'elements';
  elsif settings is null and old.id is not null then
    a.preset := old.preset;
    a.reason := old.reason;
    a.looked := old.looked;
  elsif settings is null then
    select l.preset, l.reason, l.looked into a.preset, a.reason, a.looked from alike._look_at(a) as l;
  end if;
  settings := coalesce(settings, a.preset);
  select * into base from alike._preset_of(settings);
  a.preset := base.preset;
  profile := alike._parse(settings);
  if is_array and profile.stream <> 6 then
    raise exception 'alike: attach: %.% is an array, which the stream elements reads, not the profile "%"', a.source, a.column_name, left(settings, 100) using errcode = 'invalid_parameter_value';
  elsif profile.stream = 6 and a.extract is not null then
    raise exception 'alike: attach: the extract is %, and the stream elements has no text; want plain', a.extract using errcode = 'invalid_parameter_value';
  elsif profile.stream = 6 and profile.family = 7 and options ->> 'verify' = 'text' then
    raise exception 'alike: attach: the verify is text, which counts shingles; under the family weighted elements have weights: want sketch' using errcode = 'invalid_parameter_value';
  end if;
  if profile.bits = 64 and alike._slots(profile.family) and settings !~* 'bits=64' then
    profile.bits := case when profile.t > 128 then 4 else 8 end;
  end if;
  -- A list in use stays until the worker has learned another.
  if jsonb_typeof(options -> 'common') = 'string' then
    profile.without := ('x' || (options ->> 'common'))::bit(32)::bigint;
  elsif alike._learns(options) and old.id is not null then
    profile.without := (alike._parse(p.profile)).without from alike.settings p where p.id = old.profile_id;
  end if;
  if profile.without <> 0 then
    if not exists (select from alike.boilerplate where list = profile.without) then
      raise exception 'alike: attach: the list % of shingles that the profile leaves out is not in this database', lpad(to_hex(profile.without), 8, '0') using errcode = 'invalid_parameter_value',
        hint = 'The option common, true or a share of the rows, has the worker learn one.';
    elsif alike._invalid(profile) is not null then
      raise exception 'alike: attach: %', alike._invalid(profile) using errcode = 'invalid_parameter_value';
    end if;
  elsif alike._learns(options) and (alike._families())[profile.family + 1] in ('bottom', 'mod') then
    raise exception 'alike: attach: the family % leaves no shingles out', (alike._families())[profile.family + 1] using errcode = 'invalid_parameter_value';
  end if;
  a.at_least := coalesce((options ->> 'at_least')::double precision, alike._at_least(profile));
  if not (a.at_least > 0 and a.at_least <= 1) then
    raise exception 'alike: attach: at_least is %, want above 0 and at most 1', a.at_least using errcode = 'invalid_parameter_value';
  end if;
  if (options #>> '{short,at_least}')::double precision < a.at_least then
    raise exception 'alike: attach: the option short has at_least %, want %, that of longer texts, or more', (options #>> '{short,at_least}')::double precision, a.at_least using errcode = 'invalid_parameter_value';
  end if;
  if not base.follows then
    if jsonb_typeof(options -> 'recall') = 'number' then
      raise exception 'alike: attach: recall is for a filter that attach chooses; the profile "%" has one', left(settings, 100) using errcode = 'invalid_parameter_value';
    end if;
  else
    a.recall := coalesce((options ->> 'recall')::double precision, 0.95);
    if not (a.recall > 0 and a.recall < 1) then
      raise exception 'alike: attach: recall is %, want between 0 and 1', a.recall using errcode = 'invalid_parameter_value';
    end if;
    kept := profile;
    if old.recall is not null then
      before := alike._parse(p.profile) from alike.settings p where p.id = old.profile_id;
      kept.t := before.t;
      kept.k := before.k;
      kept.s := before.s;
      kept.r := before.r;
    end if;
    if kept is not distinct from before and alike._threshold_recall(before.k, before.s, a.at_least) >= a.recall then
      profile := before;
    else
      select * into filter from alike._threshold_filter(a.at_least, a.recall, base.background);
      profile.k := filter.k;
      profile.s := filter.s;
      profile.r := least(profile.r, filter.k);
      profile.t := greatest(profile.t, filter.k * filter.s);
    end if;
  end if;
  a.profile_id := alike._settings_id(alike._spell(profile));
  a.features := profile.k;
  return a;
end
$$;

-- Says what was chosen, and what the filter finds.
create function alike._say_what_was_chosen(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  p constant alike.profile_fields := alike._parse(s.profile) from alike.settings s where s.id = a.profile_id;
begin
  if a.reason is not null then
    raise notice 'alike: attach: %: the preset %, since %', a.name, a.preset, a.reason;
  end if;
  raise notice 'alike: attach: %: % of the pairs at % and a little above share one of % features', a.name,
    round(alike._threshold_recall(p.k, p.s, a.at_least)::numeric, 3), round(a.at_least::numeric, 3), p.k;
end
$$;

-- How many superfeatures are columns, each with an index.
create function alike._superfeature_columns(options jsonb, p alike.profile_fields) returns smallint language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  max_columns constant integer := 80; -- with the features: a table of SQLite has room for little more
  n numeric := 1;
begin
  if not coalesce((options ->> 'superfeatures')::boolean, false) then
    return 0;
  elsif p.r = 1 then
    raise exception 'alike: attach: the superfeatures under r=1 are the features; want a profile with r=2 or more' using errcode = 'invalid_parameter_value';
  end if;
  for i in 0 .. least(p.r, p.k - p.r) - 1 loop
    n := least(div(n * (p.k - i), i + 1), 1099511627776);
    exit when n = 1099511627776;
  end loop;
  if p.k + n > max_columns then
    raise exception 'alike: attach: the superfeatures under k=% r=% are % columns beside % features, want at most % together, as k=12 r=2 makes', p.k, p.r, n, p.k, max_columns
      using errcode = 'invalid_parameter_value';
  elsif options ->> 'layout' = 'parts' then
    raise exception 'alike: attach: superfeatures are columns with an index each, which the layout parts does without; want the layout columns' using errcode = 'invalid_parameter_value';
  end if;
  return n;
end
$$;

-- What the options and the table make of an attachment.
create function alike._describe(class pg_class, "column" text, options jsonb, old alike.attachment) returns alike.attachment language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  a alike.attachment;
  relation constant regclass := class.oid;
  document record := alike._document_column(relation, "column");
  option text;
  profile alike.profile_fields;
begin
  a.source := relation;
  a.column_name := document.name;
  a.options := options;
  a.replaces := old.id;
  a.name := coalesce(options ->> 'name', class.relname);
  a.side_schema := (select nspname from pg_namespace where oid = class.relnamespace);
  a.side_name := a.name || '_alike' || case when old.id is null then '' else '_next' end;
  a.key_columns := alike._find_key(relation, options -> 'key');
  a.matches := coalesce((options ->> 'matches')::integer, 10);
  a.policy := coalesce(options ->> 'policy', 'ignore');
  if a.policy not in ('ignore', 'link', 'warn', 'reject') then
    raise exception 'alike: attach: the policy is "%", want ignore, link, warn or reject', a.policy using errcode = 'invalid_parameter_value';
  elsif alike._by_containment(a) and not alike._contains(a) then
    raise exception 'alike: attach: a policy by containment needs the values that the option contains keeps; want {"by": "containment", "contains": true}' using errcode = 'invalid_parameter_value';
  elsif alike._by_containment(a) and a.policy = 'reject' and not options ? 'ask' then
    raise exception 'alike: attach: the policy reject by containment needs the option ask: what a program brings to alike.gate does not tell containment' using errcode = 'invalid_parameter_value';
  end if;
  a.distributed := coalesce((options ->> 'distributed')::boolean, false);
  perform alike._check_distributed(relation, a.distributed, options);
  a.mode := coalesce(options ->> 'mode', case when a.distributed then 'scan' else 'queue' end);
  if a.mode not in ('queue', 'scan') then
    raise exception 'alike: attach: the mode is "%", want queue, or scan for a table that takes no triggers', a.mode using errcode = 'invalid_parameter_value';
  end if;
  a.extract := alike._extract_option(options -> 'extract', document.type::text, relation);
  a.filter_columns := '{}';
  if options ? 'where' then
    select f.expression, f.columns into a.row_filter, a.filter_columns from alike._row_filter(relation, options ->> 'where') as f;
  end if;
  if jsonb_typeof(a.extract) = 'object' then
    a.filter_columns := a.filter_columns || (a.extract ->> 'column')::name;
  end if;
  a.columns := a.key_columns || a.column_name
    || array(select distinct c from unnest(a.filter_columns) as c where c <> all (a.key_columns || a.column_name) order by c)::name[];
  a.spelled := a.columns;
  a.numbers := array(select t.attnum from unnest(a.columns) with ordinality as u(c, n) join pg_attribute t on t.attrelid = relation and t.attname = u.c order by u.n);
  a.numbers_of := relation;
  a.indexed := false;
  a := alike._choose(a, options, old);
  profile := alike._parse(s.profile) from alike.settings s where s.id = a.profile_id;
  a.superfeatures := alike._superfeature_columns(options, profile);
  a.variants := '{}';
  for option in select e from jsonb_array_elements_text(coalesce(options -> 'si', '[]')) as e loop
    option := alike._variant(option, profile.t);
    if profile.stream = 6 and option !~ '^(length|forest)' then
      raise exception 'sketch: similarity index %: the stream elements has no text; want length or forest/0', option using errcode = 'invalid_parameter_value';
    end if;
    if option = any (a.variants) then
      raise exception 'alike: attach: the similarity index % is given twice', option using errcode = 'invalid_parameter_value';
    end if;
    a.variants := a.variants || option;
  end loop;
  return a;
end
$$;

-- What an answer to attach does not show: who reads documents again, what the policy
-- reject refuses, and what it needs for that.
create function alike._say_what_is_done(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  otherwise constant text := coalesce(a.options #>> '{ask,otherwise}', 'accept');
begin
  if alike._learns(a.options) then
    raise notice 'alike: attach: % leaves out what many rows share as soon as the worker has filled it and learned what that is', a.name;
  end if;
  if a.options ->> 'verify' = 'text' then
    raise notice 'alike: attach: % reads documents again for what the worker records and for pgworker rows, pairs and clusters; functions in SQL answer from the sketches', a.name;
  end if;
  if a.policy <> 'reject' then
    return;
  elsif not a.options ? 'ask' then
    raise notice 'alike: attach: % refuses nothing by itself: a document is judged when its program calls alike.gate(table, sketch) in the transaction that inserts it', a.name
      using hint = 'With the option ask, {"connection": SERVER}, and the extension dblink a trigger judges every insert and update.';
  else
    raise notice 'alike: attach: % refuses inserts and updates whose document % or more; when no worker answers within % seconds they are %',
      a.name, case when alike._by_containment(a) then format('contains another row, or is contained in it, at %s', round(alike._min_held(a)::numeric, 3))
        else format('resembles another row at %s', round(a.at_least::numeric, 3)) end, coalesce(a.options #>> '{ask,timeout}', '2'), otherwise || case otherwise when 'accept' then 'ed' else 'd' end;
    if not exists (select from pg_extension where extname = 'dblink') then
      raise notice 'alike: attach: the extension dblink is not installed: until it is, no worker is asked' using hint = 'create extension dblink installs it.';
    end if;
  end if;
end
$$;

-- Makes what the worker calls once it has learned which shingles very many rows share: the
-- list as a Boilerplate is stored, or NULL where there are none.
create function alike._make_learn(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not alike._learns(a.options) then
    return;
  end if;
  execute format('create or replace function %s(shingles bytea) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as %L',
    alike._generated(a, 'learn'), format('begin perform alike._leave_out(a, shingles) from alike.attachment a where a.id = %s; end', a.id));
  execute format('revoke all on function %s(bytea) from public', alike._generated(a, 'learn'));
  perform alike._own(a);
end
$$;

-- What attach was not told stays as the rows have it that a detach has kept: the profile, the
-- similarity indexes, the superfeatures and the values. A list of shingles that the profile leaves
-- out may be gone.
create function alike._take_up(side regclass, called text, options jsonb) returns jsonb language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  columns text[];
  settings smallint;
  kept text;
begin
  select array_agg(t.attname::text order by t.attnum) into columns from pg_attribute t join pg_class c on c.oid = t.attrelid
  where c.oid = side and pg_has_role(c.relowner, 'usage') and t.attnum > 0 and not t.attisdropped and (t.attname <> 'profile' or t.atttypid = 'smallint'::regtype);
  if columns is null or not columns @> array['profile', 'content_hash', 'shingles', 'sketch'] then
    return options;
  end if;
  options := case when 'g1' = any (columns) then '{"superfeatures": true}' else '{}' end::jsonb || case when 'passages' = any (columns) then '{"contains": true}' else '{}' end::jsonb
    || jsonb_build_object('si', array(select replace(substr(c, 4), '_', '/') from unnest(columns) with ordinality as u(c, n) where left(c, 3) = 'si_' order by n)) || options;
  if not options ?| array['profile', 'at_least', 'recall', 'common'] then
    execute format('select s.profile from %s s where s.sketch is not null limit 1', side) into settings;
    select p.profile into kept from alike.settings p where p.id = settings;
    if (alike._parse(kept)).without = 0 then
      kept := coalesce((select p.name from alike.profiles() p where p.settings = regexp_replace(kept, ' bits=[0-9]+$', '') limit 1), kept);
      options := options || jsonb_build_object('profile', kept);
      raise notice 'alike: attach: %: the profile "%", which the rows that a detach kept have', called, kept;
    end if;
  end if;
  return options;
end
$$;

create function alike._attach(relation regclass, given_name text, "column" text, options jsonb, replaced integer) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  class constant pg_class := alike._check_table(relation, given_name);
  called constant text := coalesce(options ->> 'name', class.relname);
  a alike.attachment;
  old alike.attachment;
  rows bigint;
  kept boolean; -- what an earlier detach has left
begin
  perform alike._check_options(options);
  if called = '' or octet_length(called) > 49 then
    raise exception 'alike: attach: the name is "%", want 1 to 49 bytes', called
      using errcode = 'name_too_long', hint = 'The option name gives the attachment another one.';
  elsif replaced is not null and octet_length(called) > 44 then
    raise exception 'alike: change: the name "%" has % bytes, want at most 44', called, octet_length(called) using errcode = 'name_too_long';
  end if;
  select * into old from alike.attachment t
  where t.side_schema = (select nspname from pg_namespace where oid = class.relnamespace) and t.name = called and t.replaces is null;
  if found and replaced is null then
    if old.source = relation and alike._current_document(old) = (alike._document_column(relation, "column")).name and options - 'name' <> '{}' then
      return alike._change(old, options - 'name');
    end if;
    if old.source <> relation then
      raise exception 'alike: attach: the name % belongs to an attachment of %', called, old.source
        using errcode = 'duplicate_object', hint = 'The option name gives the new attachment another one.';
    elsif alike._current_document(old) is distinct from (alike._document_column(relation, "column")).name then
      raise exception 'alike: attach: % is attached to the column %; give the other column a name of its own', called, alike._current_document(old)
        using errcode = 'duplicate_object', hint = 'The option name gives a second attachment its own name.';
    end if;
    raise exception 'alike: attach: % is attached', called
      using errcode = 'duplicate_object', hint = 'Options, such as another profile, change it.';
  end if;
  if replaced is null then
    options := alike._take_up(to_regclass(format('%I.%I', (select nspname from pg_namespace where oid = class.relnamespace), called || '_alike')), called, options);
  end if;
  a := alike._describe(class, "column", options, old);
  if (select profile from alike.settings where id = a.profile_id) = (select profile from alike.settings where id = old.profile_id) then
    a.profile_id := old.profile_id; -- which tells the build, too
  end if;
  -- A change that no number depends on is made where it is.
  if replaced is not null and (a.profile_id, a.variants, a.superfeatures, a.extract, a.row_filter, alike._contains(a), alike._in_parts(a)) is not distinct from (old.profile_id, old.variants, old.superfeatures, old.extract, old.row_filter, alike._contains(old), alike._in_parts(old))
     and not options ? 'ask' and not old.options ? 'ask' then
    update alike.attachment t set policy = a.policy, at_least = a.at_least, matches = a.matches, options = a.options, preset = a.preset, recall = a.recall, reason = a.reason, looked = a.looked
    where t.id = replaced returning * into a;
    perform alike._make_learn(a);
    perform alike._make_sees(a); -- reveal
    perform alike._switch_clusters(a);
    if alike._side(a, '_cluster') is not null and (a.at_least, a.options -> 'clusters', nullif(a.options -> 'short', 'null')) is distinct from (old.at_least, old.options -> 'clusters', nullif(old.options -> 'short', 'null'))
       and exists (select from alike.backfill b where b.attachment = a.id and b.finished_at is not null) then
      perform alike._write_clusters(a);
    end if;
    perform alike._say_what_was_chosen(a);
    perform alike._say_what_is_done(a);
    return 0;
  end if;
  execute format('select count(*) from %s%s', relation, ' where ' || a.row_filter) into rows;
  kept := alike._side(a) is not null;
  a.side := alike._make_side(a, alike._column_types(relation, a.key_columns), class.relpersistence = 'u');
  insert into alike.attachment (name, source, column_name, key_columns, side_schema, side_name, profile_id, variants, features, policy, mode, distributed,
                                at_least, row_filter, filter_columns, extract, options, indexed, replaces, matches, side, columns, numbers, numbers_of, spelled,
                                preset, recall, reason, looked, superfeatures)
  values (a.name, a.source, a.column_name, a.key_columns, a.side_schema, a.side_name, a.profile_id, a.variants, a.features, a.policy, a.mode, a.distributed,
          a.at_least, a.row_filter, a.filter_columns, a.extract, a.options, a.indexed, replaced, a.matches, a.side, a.columns, a.numbers, a.numbers_of, a.spelled,
          a.preset, a.recall, a.reason, a.looked, a.superfeatures)
  returning * into a;
  if alike._contains(a) then
    perform alike._make_values(a);
  end if;
  if alike._in_parts(a) then
    perform alike._make_part(a);
  end if;
  perform alike._make_tables(a);
  perform alike._make_functions(a);
  if rows < 10000 then
    execute format('select %s()', alike._generated(a, 'build'));
    update alike.attachment t set indexed = true where t.id = a.id;
  end if;
  perform alike._keep_bounds(p.t) from (select (alike._parse(s.profile)).* from alike.settings s where s.id = a.profile_id) p
  where p.t <= 256 and alike._slots(p.family);
  insert into alike.backfill (attachment, rows, deletions) values (a.id, rows, kept);
  perform alike._make_learn(a);
  perform alike._own(a);
  perform alike._say_what_was_chosen(a);
  perform alike._say_what_is_done(a);
  -- The locks that make writers wait come last.
  if a.mode = 'queue' then
    perform alike._make_triggers(a);
  end if;
  if options ? 'ask' then
    perform alike._make_ask(a);
  end if;
  perform alike._own(a);
  return rows;
end
$$;

create function alike.attach("table" text, "column" text, options jsonb default '{}') returns bigint language sql strict
as $$ select alike._attach(alike._relation("table"), "table", "column", options, null) $$;
comment on function alike.attach(text, text, jsonb) is 'gives a table the aspect; returns the number of rows that the worker will sketch';
