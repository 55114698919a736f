-- Similarity indexes: their spelling, their columns and the range of similar rows.

-- The canonical spelling of a similarity index, or an error.
create function alike._variant(variant text, t integer) returns text language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  part text[];
  method integer;
begin
  if lower(variant) = 'length' then
    return 'length';
  end if;
  part := regexp_match(variant, '^forest/([0-9]{1,5})$', 'i');
  if part is not null then
    if part[1]::integer >= t / 8 then
      raise exception 'sketch: similarity index forest/%: a profile with t=% has % of eight minima, numbered from 0', part[1]::integer, t, t / 8
        using errcode = 'invalid_parameter_value';
    end if;
    return 'forest/' || part[1]::integer;
  end if;
  part := regexp_match(variant, '^([0-9]{1,2})([A-Da-d])/([0-9]{1,5})(/([0-9]{1,5}))?$');
  if part is null then
    raise exception 'sketch: similarity index "%": want a method, a variation and k as in 43B/40, or length, or forest/0', left(variant, 40)
      using errcode = 'invalid_parameter_value';
  end if;
  method := part[1]::integer;
  if method % 20 not between 1 and 14 or method > 54 then
    raise exception 'sketch: similarity index "%": method %, want 1 to 14, 21 to 34 or 41 to 54', variant, method
      using errcode = 'invalid_parameter_value';
  elsif method = 13 then
    raise exception 'sketch: similarity index "%": method 13, the most frequent words, has no form for characters; want 33 or 53', variant
      using errcode = 'invalid_parameter_value';
  elsif part[3]::integer not between 1 and 10000 or part[5]::integer not between 1 and 10000 then
    raise exception 'sketch: similarity index "%": k and the window want 1 to 10000', variant using errcode = 'invalid_parameter_value';
  elsif method % 20 in (5, 6) and part[5] is null then
    raise exception 'sketch: similarity index "%": method % winnows, want its window too, as in %', variant, method, variant || '/100'
      using errcode = 'invalid_parameter_value';
  end if;
  return method || upper(part[2]) || '/' || part[3]::integer || case when method % 20 in (5, 6) then '/' || part[5]::integer else '' end;
end
$$;

-- si_43b_40 for 43B/40.
create function alike._si_column(variant text) returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 'si_' || replace(lower(variant), '/', '_') $$;

-- A rounded number as a bigint, the nearest there is.
create function alike._nearest(x double precision) returns bigint language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case when x >= 9223372036854775808 then 9223372036854775807 when x <= -9223372036854775808 then -9223372036854775808 else x::bigint end
$$;

-- The fraction of the magnitude of an index.
create function alike._spread(si bigint, fraction double precision) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if not (fraction >= 0) or fraction = 'NaN' then
    raise exception 'the fraction is %, want a number of at least 0', fraction using errcode = 'invalid_parameter_value';
  end if;
  return abs(si::double precision * least(fraction, 1e100));
end
$$;

create function alike.si_low(si bigint, fraction double precision default 0.3) returns bigint language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return alike._nearest(floor(si::double precision - alike._spread(si, fraction)));
end
$$;
comment on function alike.si_low(bigint, double precision) is 'the open lower bound of the range of similar documents (Roth 2011, Figure 2), a whole number that the index is searched by';

create function alike.si_high(si bigint, fraction double precision default 0.3) returns bigint language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return alike._nearest(ceil(si::double precision + alike._spread(si, fraction)));
end
$$;
comment on function alike.si_high(bigint, double precision) is 'the open upper bound of the range of similar documents (Roth 2011, Figure 2), a whole number that the index is searched by';
