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
    raise exception 'alike: at_least is %, want a number from 0 to 1', at_least using errcode = 'invalid_parameter_value';
  elsif at_least = 0 then
    raise exception 'alike: at_least is 0, want above 0' using errcode = 'invalid_parameter_value';
  end if;
  return at_least;
end
$$;

-- The attachment as a question asks it: with a threshold of its own, short texts need no
-- more than others.
create function alike._asked(a alike.attachment, at_least double precision) returns alike.attachment language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if at_least <> 'NaN' then
    a.options := a.options - 'short';
  end if;
  return a;
end
$$;

create function alike._rows(a alike.attachment, given text, at_least double precision)
returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform alike._check_key(a, given);
  return query select * from alike._similar(alike._asked(a, at_least), null, null, given, alike._limit(a, at_least), null);
end
$$;

create function alike.rows("table" text, given text, at_least double precision default 'NaN')
returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision)
language sql stable
as $$ select * from alike._rows(alike._attachment("table"), given, at_least) where "table" is not null and given is not null and at_least is not null $$;
comment on function alike.rows(text, text, double precision) is 'the rows that resemble a row, best first';

-- The questions about a row take its key as text, or as a value of its type.
create function alike.rows("table" text, given anycompatible, at_least double precision default 'NaN')
returns table (key text, shared integer, resemblance double precision, low double precision, high double precision, containment double precision)
language sql stable
as $$ select * from alike.rows("table", alike._typed_key(given), at_least) $$;
comment on function alike.rows(text, anycompatible, double precision) is 'the rows that resemble a row, whose key is given by its type, best first';

create function alike._si_rows(a alike.attachment, variant text, given text, fraction double precision)
returns table (key text, si bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  spelling constant text := alike._variant(variant, 4096);
  si_column constant text := alike._si_column(spelling);
  types constant text[] := alike._key_types(alike._side(a), a.key_columns);
  itself constant text := alike._key_is(a.key_columns, types, 's', '$1');
  own bigint;
  there boolean;
  wanted text;
  nearest text;
begin
  if spelling <> all (a.variants) then
    raise exception 'alike: % has no similarity index %; it has %', a.name, spelling, coalesce(nullif(array_to_string(a.variants, ', '), ''), 'none')
      using errcode = 'undefined_column', hint = 'attach takes {"si": ["' || spelling || '"]}.';
  elsif spelling ~ '^forest' and fraction <> 'NaN' then
    raise exception 'alike: si_rows: % has depths instead of a fraction; leave it out', spelling using errcode = 'invalid_parameter_value';
  elsif fraction < 0 then
    raise exception 'alike: si_rows: the fraction is %, want a number of at least 0', fraction using errcode = 'invalid_parameter_value';
  end if;
  perform alike._check_key(a, given);
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
    fraction := coalesce(nullif(fraction, 'NaN'), 0.3);
    wanted := format('s.%1$I > (%2$s) and s.%1$I < (%3$s)', si_column, alike.si_low(own, fraction), alike.si_high(own, fraction));
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

create function alike.si_rows("table" text, variant text, given text, fraction double precision default 'NaN')
returns table (key text, si bigint)
language sql stable
as $$
  select * from alike._si_rows(alike._attachment("table"), variant, given, fraction)
  where "table" is not null and variant is not null and given is not null and fraction is not null
$$;
comment on function alike.si_rows(text, text, text, double precision) is 'the rows whose similarity index lies in the range around that of a row: 0.3 of it on either side unless given, or for forest/i those that agree in its first byte';

create function alike.si_rows("table" text, variant text, given anycompatible, fraction double precision default 'NaN')
returns table (key text, si bigint)
language sql stable
as $$ select * from alike.si_rows("table", variant, alike._typed_key(given), fraction) $$;
comment on function alike.si_rows(text, text, anycompatible, double precision) is 'the rows whose similarity index lies in the range around that of a row, whose key is given by its type';

create function alike._forest_rows(a alike.attachment, given text, min_depth integer)
returns table (key text, depth integer, resemblance double precision)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  forests constant text[] := array(select alike._si_column(v) from unnest(a.variants) as v where v like 'forest/%');
  itself constant text := alike._key_is(a.key_columns, alike._key_types(alike._side(a), a.key_columns), 's', '$1');
  rest bigint;
  own record;
begin
  if min_depth not between 1 and 8 then
    raise exception 'the depth is %, want 1 to 8', min_depth using errcode = 'invalid_parameter_value';
  elsif forests = '{}' then
    raise exception 'alike: % has no similarity index forest/0; it has %', a.name, coalesce(nullif(array_to_string(a.variants, ', '), ''), 'none')
      using errcode = 'undefined_column', hint = 'attach takes {"si": ["forest/0", "forest/1", "forest/2", "forest/3"]}.';
  end if;
  perform alike._check_key(a, given);
  begin
    execute format('select true as there, s.sketch, s.profile, s.profile = %s and %s as damaged, array[%s] as forests from %I.%I s where %s',
      a.profile_id, alike._damaged(a, 's'),
      (select string_agg(format('s.%I', c), ', ' order by n) from unnest(forests) with ordinality as u(c, n)), a.side_schema, a.side_name, itself) into own using given;
  exception
    when data_exception then
      perform alike._bad_key(a, given, sqlerrm);
  end;
  if own.there is null then
    perform alike._no_row(a, given);
  elsif own.damaged then
    perform alike._damaged_row(a, given);
  elsif own.sketch is null then
    return;
  end if;
  rest := case min_depth when 8 then 0 else (1::bigint << 8 * (8 - min_depth)) - 1 end;
  -- The ranges stand there as constants, so that the planner knows how many rows each has.
  return query execute (
    select format('select key, depth, alike.resemblance($2, sketch) as resemblance
      from (select %s as key, %s, greatest(%s) as depth, s.sketch from %I.%I s where (%s) and s.profile = %s and %s and not (%s) offset 0) r
      order by depth desc, resemblance desc, %s',
      alike._key_text(a.key_columns, 's'),
      (select string_agg(format('s.%I as k%s', a.key_columns[n], n), ', ' order by n) from generate_subscripts(a.key_columns, 1) as n),
      -- The bytes before the first bit that differs.
      string_agg(format('coalesce((position(''1'' in ((s.%I # (%s))::bit(64)::text || ''1'')) - 1) / 8, 0)', c, own.forests[n]), ', '),
      a.side_schema, a.side_name,
      string_agg(format('s.%I between (%s) and (%s)', c, own.forests[n] & ~rest, own.forests[n] | rest), ' or '),
      own.profile, case when own.profile = a.profile_id then alike._sound(a, 's') else 's.sketch is not null' end, itself,
      (select string_agg('k' || n, ', ' order by n) from generate_subscripts(a.key_columns, 1) as n))
    from unnest(forests) with ordinality as u(c, n))
  using given, own.sketch;
end
$$;

create function alike.forest_rows("table" text, given text, min_depth integer default 2)
returns table (key text, depth integer, resemblance double precision)
language sql stable
as $$
  select * from alike._forest_rows(alike._attachment("table"), given, min_depth)
  where "table" is not null and given is not null and min_depth is not null
$$;
comment on function alike.forest_rows(text, text, integer) is 'the rows that agree with a row in the first bytes of a forest index, the deepest first: two bytes unless said otherwise';

create function alike.forest_rows("table" text, given anycompatible, min_depth integer default 2)
returns table (key text, depth integer, resemblance double precision)
language sql stable
as $$ select * from alike.forest_rows("table", alike._typed_key(given), min_depth) $$;
comment on function alike.forest_rows(text, anycompatible, integer) is 'the rows that agree with a row, whose key is given by its type, in the first bytes of a forest index, the deepest first';
