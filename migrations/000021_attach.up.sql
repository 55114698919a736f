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
    raise exception 'alike: attach: extract "%", want plain, html, pdf, docx, auto or a media type', left(given #>> '{}', 100) using errcode = 'invalid_parameter_value';
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

create function alike._attach(relation regclass, given_name text, "column" text, options jsonb, replaced integer) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  class pg_class;
  a alike.attachment;
  attribute pg_attribute;
  document_type text;
  types text[];
  profile alike.profile_fields;
  option text;
  other text;
  rows bigint;
  old alike.attachment;
  kept boolean; -- what an earlier detach has left
begin
  if relation is null then
    raise exception 'alike: attach: there is no table "%"', given_name using errcode = 'undefined_table';
  end if;
  select * into class from pg_class where oid = relation;
  if class.relkind not in ('r', 'p') then
    raise exception 'alike: attach: % is not a table', relation using errcode = 'wrong_object_type';
  elsif class.relpersistence = 't' then
    raise exception 'alike: attach: % is a temporary table, which no worker can see', relation using errcode = 'wrong_object_type';
  elsif class.relnamespace in ('alike'::regnamespace, 'pg_catalog'::regnamespace, 'information_schema'::regnamespace) then
    raise exception 'alike: attach: % is a table of the system', relation using errcode = 'wrong_object_type';
  end if;
  if jsonb_typeof(options) <> 'object' then
    raise exception 'alike: attach: options %, want a JSON object', options using errcode = 'invalid_parameter_value';
  end if;
  for option in select jsonb_object_keys(options) loop
    if option not in ('profile', 'si', 'policy', 'at_least', 'mode', 'distributed', 'name', 'where', 'extract', 'key', 'ask', 'reveal') then
      raise exception 'alike: attach: unknown option "%", want profile, si, policy, at_least, mode, distributed, name, where, extract, key, ask or reveal', option
        using errcode = 'invalid_parameter_value';
    end if;
    if jsonb_typeof(options -> option) <> all (case option
        when 'si' then array['array'] when 'key' then array['array', 'string'] when 'at_least' then array['number', 'null'] when 'distributed' then array['boolean'] when 'reveal' then array['boolean']
        when 'extract' then array['object', 'string'] when 'ask' then array['object']
        else array['string'] end) then
      raise exception 'alike: attach: option % is %, want %', option, options -> option, case option
          when 'si' then 'an array of strings' when 'key' then 'an array of column names' when 'at_least' then 'a number from 0 to 1, or null' when 'distributed' then 'true or false' when 'reveal' then 'true or false'
          when 'extract' then 'a string or an object' when 'ask' then 'an object' else 'a string' end
        using errcode = 'invalid_parameter_value';
    end if;
  end loop;
  -- Rights first: nothing is made before all of them are there.
  if not pg_has_role(class.relowner, 'usage') then
    raise exception 'alike: attach: % belongs to %; % is not a member of that role', relation, class.relowner::regrole, current_user using errcode = 'insufficient_privilege';
  elsif not has_schema_privilege(class.relnamespace, 'create') then
    raise exception 'alike: attach: % may not create tables in the schema %', current_user, class.relnamespace::regnamespace using errcode = 'insufficient_privilege';
  elsif not has_table_privilege('alike.attachment', 'insert') then
    raise exception 'alike: attach: % is not a member of alike_admin', current_user using errcode = 'insufficient_privilege';
  end if;

  select * into attribute from pg_attribute
  where attrelid = relation and attnum > 0 and not attisdropped and attname in ("column", lower("column"))
  order by attname = "column" desc limit 1;
  if not found then
    raise exception 'alike: attach: % has no column "%"', relation, "column" using errcode = 'undefined_column';
  end if;
  with recursive base as (
    select t.* from pg_type t where t.oid = attribute.atttypid
    union all
    select t.* from pg_type t join base on t.oid = base.typbasetype and base.typtype = 'd'
  )
  select typname into document_type from base
  where typtype <> 'd' and (typcategory = 'S' or oid in ('json'::regtype, 'jsonb'::regtype, 'bytea'::regtype, 'xml'::regtype));
  if document_type is null then
    raise exception 'alike: attach: %.% is %, want text, varchar, json, jsonb, xml or bytea', relation, attribute.attname, format_type(attribute.atttypid, attribute.atttypmod)
      using errcode = 'datatype_mismatch';
  end if;

  a.source := relation;
  a.column_name := attribute.attname;
  a.name := coalesce(options ->> 'name', class.relname);
  a.side_schema := class.relnamespace::regnamespace::text;
  a.side_schema := (select nspname from pg_namespace where oid = class.relnamespace);
  if a.name = '' or octet_length(a.name) > 49 then
    raise exception 'alike: attach: the name "%" has % bytes, want 1 to 49', a.name, octet_length(a.name)
      using errcode = 'name_too_long', hint = 'The option name gives the attachment another one.';
  end if;
  select * into old from alike.attachment
  where attachment.side_schema = a.side_schema and attachment.name = a.name and attachment.replaces is null;
  if found and replaced is null and old.source = relation and old.column_name = a.column_name and options - 'name' <> '{}' then
    return alike._change(old, options - 'name');
  elsif found and replaced is null then
    raise exception 'alike: attach: "%" is attached to %.%', a.name, old.source, quote_ident(old.column_name)
      using errcode = 'duplicate_object', hint = 'The option name gives a second attachment its own name; options, such as another profile, change the first.';
  end if;
  a.side_name := a.name || '_alike' || case when replaced is null then '' else '_next' end;
  if replaced is not null and octet_length(a.name) > 44 then
    raise exception 'alike: change: the name "%" has % bytes, want at most 44', a.name, octet_length(a.name) using errcode = 'name_too_long';
  end if;

  -- The key: as given, or the primary key, or a unique index without NULLs.
  select array(select att.attname from unnest(i.indkey::int2[]) with ordinality as u(num, n)
               join pg_attribute att on att.attrelid = relation and att.attnum = u.num where n <= i.indnkeyatts order by n)
  into a.key_columns
  from pg_index i
  where i.indrelid = relation and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
    and not exists (select from unnest(i.indkey::int2[]) with ordinality as u(num, n) join pg_attribute att on att.attrelid = relation and att.attnum = u.num
                    where n <= i.indnkeyatts and not att.attnotnull)
    and (not options ? 'key'
         or array(select att.attname::text from pg_attribute att where att.attrelid = relation and att.attnum = any (i.indkey::int2[]) order by 1)
            = array(select e from jsonb_array_elements_text(case jsonb_typeof(options -> 'key') when 'array' then options -> 'key' else jsonb_build_array(options -> 'key') end) as e order by 1))
  order by i.indisprimary desc, i.indnkeyatts, i.indexrelid
  limit 1;
  if a.key_columns is null then
    raise exception 'alike: attach: % has no primary key or unique index without NULLs%', relation,
      case when options ? 'key' then ' on ' || (options ->> 'key') else '' end using errcode = 'invalid_table_definition';
  end if;
  foreach option in array a.key_columns loop
    if option in ('profile', 'content_hash', 'shingles', 'sketch', 'sketched_at', 'slot', 'feature', 'shared', 'resemblance', 'low', 'high',
                  'policy', 'matched_at', 'verdict', 'note', 'marked_at', 'marked_by', 'other')
       or option ~ '^(f[0-9]+|si_.*|other_.*)$' then
      raise exception 'alike: attach: the key column "%" is called like a column of the side tables', option using errcode = 'duplicate_column';
    elsif cardinality(a.key_columns) > 1 and octet_length(option) > 57 then
      raise exception 'alike: attach: the key column "%" has % bytes, want at most 57', option, octet_length(option) using errcode = 'name_too_long';
    end if;
  end loop;
  -- In the side tables a column has the type and the collation it has here.
  select array_agg(format_type(att.atttypid, att.atttypmod)
      || case when att.attcollation <> t.typcollation then (select format(' collate %I.%I', nspname, collname)
           from pg_collation c join pg_namespace n on n.oid = c.collnamespace where c.oid = att.attcollation) else '' end order by n)
  into types
  from unnest(a.key_columns) with ordinality as u(k, n)
  join pg_attribute att on att.attrelid = relation and att.attname = u.k
  join pg_type t on t.oid = att.atttypid;

  profile := alike._parse(coalesce(options ->> 'profile', 'text'));
  if profile.bits = 64 and alike._slots(profile.family) and coalesce(options ->> 'profile', '') !~* 'bits=64' then
    profile.bits := case when profile.t > 128 then 4 else 8 end;
  end if;
  a.profile_id := alike._settings_id(alike._spell(profile));
  a.features := profile.k;
  a.at_least := coalesce((options ->> 'at_least')::double precision, alike._at_least(profile));
  if not (a.at_least >= 0 and a.at_least <= 1) then
    raise exception 'alike: attach: at_least %, want 0 to 1', a.at_least using errcode = 'invalid_parameter_value';
  end if;
  a.variants := '{}';
  for option in select e from jsonb_array_elements_text(coalesce(options -> 'si', '[]')) as e loop
    option := alike._variant(option, profile.t);
    if option <> all (a.variants) then
      a.variants := a.variants || option;
    end if;
  end loop;
  a.policy := coalesce(options ->> 'policy', 'ignore');
  if a.policy not in ('ignore', 'link', 'warn', 'reject') then
    raise exception 'alike: attach: policy "%", want ignore, link, warn or reject', a.policy using errcode = 'invalid_parameter_value';
  end if;
  if options ? 'ask' then
    if a.policy <> 'reject' then
      raise exception 'alike: attach: ask is for the policy reject, not %', a.policy using errcode = 'invalid_parameter_value';
    elsif (options -> 'ask') - '{connection,timeout,otherwise}'::text[] <> '{}' or jsonb_typeof(options #> '{ask,connection}') is distinct from 'string'
       or coalesce(jsonb_typeof(options #> '{ask,timeout}'), 'number') <> 'number' or coalesce(options #>> '{ask,otherwise}', 'accept') not in ('accept', 'refuse') then
      raise exception 'alike: attach: ask %, want {"connection": SERVER, "timeout": SECONDS, "otherwise": "accept" or "refuse"}', options -> 'ask'
        using errcode = 'invalid_parameter_value';
    elsif not coalesce((options #>> '{ask,timeout}')::double precision, 2) between 0.01 and 300 then
      raise exception 'alike: attach: ask: timeout %, want 0.01 to 300 seconds', options #>> '{ask,timeout}' using errcode = 'invalid_parameter_value';
    end if;
  end if;
  a.distributed := coalesce((options ->> 'distributed')::boolean, false);
  perform alike._check_distributed(relation, a.distributed, options);
  a.mode := coalesce(options ->> 'mode', case when a.distributed then 'scan' else 'queue' end);
  if a.mode not in ('queue', 'scan') then
    raise exception 'alike: attach: mode "%", want queue, or scan for a table that takes no triggers', a.mode using errcode = 'invalid_parameter_value';
  end if;
  a.extract := alike._extract_option(options -> 'extract', document_type, relation);
  a.filter_columns := '{}';
  if options ? 'where' then
    select f.expression, f.columns into a.row_filter, a.filter_columns from alike._row_filter(relation, options ->> 'where') as f;
  end if;
  if jsonb_typeof(a.extract) = 'object' then
    a.filter_columns := a.filter_columns || (a.extract ->> 'column')::name;
  end if;

  -- A change that no number depends on is made where it is.
  if replaced is not null and (a.profile_id, a.variants, a.extract, a.row_filter) is not distinct from (old.profile_id, old.variants, old.extract, old.row_filter)
     and not options ? 'ask' and not old.options ? 'ask' then
    update alike.attachment t set policy = a.policy, at_least = a.at_least, options = _attach.options where t.id = replaced returning * into a;
    perform alike._protect(a);
    return 0;
  end if;

  execute format('select count(*) from %s%s', relation, ' where ' || a.row_filter) into rows;
  a.indexed := false;
  insert into alike.attachment (name, source, column_name, key_columns, side_schema, side_name, profile_id, variants, features, policy, mode, distributed,
                                at_least, row_filter, filter_columns, extract, options, indexed, replaces)
  values (a.name, a.source, a.column_name, a.key_columns, a.side_schema, a.side_name, a.profile_id, a.variants, a.features, a.policy, a.mode, a.distributed,
          a.at_least, a.row_filter, a.filter_columns, a.extract, options, a.indexed, replaced)
  returning * into a;
  kept := alike._side(a) is not null;
  perform alike._make_tables(a, types);
  perform alike._make_builder(a);
  perform alike._make_similar(a);
  perform alike._make_forget(a);
  if rows < 10000 then
    execute format('select %I.%I()', a.side_schema, 'alike_build_' || a.id);
    update alike.attachment set indexed = true where id = a.id;
  end if;
  if a.mode = 'queue' then
    perform alike._make_triggers(a, document_type);
  end if;
  if options ? 'ask' then
    perform alike._make_ask(a, document_type);
  end if;
  if profile.t <= 256 and alike._slots(profile.family) then
    perform alike._keep_bounds(profile.t);
  end if;
  insert into alike.backfill (attachment, rows, deletions) values (a.id, rows, kept);
  perform pg_notify('alike', a.id::text);
  perform alike._own(a);
  return rows;
end
$$;

create function alike.attach("table" text, "column" text, options jsonb default '{}') returns bigint language sql strict
as $$ select alike._attach(alike._relation("table"), "table", "column", options, null) $$;
comment on function alike.attach(text, text, jsonb) is 'gives a table the aspect; returns the number of rows that the worker will sketch';
