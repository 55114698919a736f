-- The neighbourhood of an imprecise feature, in the arithmetic of package
-- sketch (cells.go). What PostgreSQL would refuse as an underflow or an
-- overflow is decided before it is divided; coordinates below 1e-20 of the
-- spacing count as 0, which they are in every comparison below.
create function alike._square(d double precision) returns double precision language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$ select case when abs(d) < 1e-150 then 0 else d * d end $$;

create function alike.cells(x double precision, radius double precision, spacing double precision,
  y double precision default null, z double precision default null)
returns table (cell text) language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  most constant double precision := 1048576;
  most_index constant double precision := 4503599627370496;
  point double precision[] := array_remove(array[x, y, case when y is not null then z end], null);
  dimensions integer := cardinality(point);
  names constant text[] := array['x', 'y', 'z'];
  u double precision[] := '{0, 0, 0}';
  low bigint[] := '{0, 0, 0}';
  top bigint[] := '{0, 0, 0}';
  i bigint;
  j bigint;
  k bigint;
  q double precision;
  looked double precision := 1;
  first double precision;
  second double precision;
begin
  if x is null or radius is null or spacing is null then
    return;
  end if;
  for d in 1 .. dimensions loop
    if point[d] in ('NaN', 'Infinity', '-Infinity') then
      raise exception 'sketch: cells: % %, want a finite number', names[d], point[d] using errcode = 'invalid_parameter_value';
    end if;
  end loop;
  if radius in ('NaN', 'Infinity', '-Infinity') then
    raise exception 'sketch: cells: radius %, want a finite number', radius using errcode = 'invalid_parameter_value';
  elsif spacing in ('NaN', 'Infinity', '-Infinity') then
    raise exception 'sketch: cells: spacing %, want a finite number', spacing using errcode = 'invalid_parameter_value';
  elsif spacing <= 0 then
    raise exception 'sketch: cells: spacing %, want more than 0', spacing using errcode = 'invalid_parameter_value';
  elsif radius < spacing then
    raise exception 'sketch: cells: radius %, want at least the spacing, %', radius, spacing using errcode = 'invalid_parameter_value';
  end if;
  if spacing < 1e300 and radius > spacing * most then
    looked := 'Infinity';
  else
    q := radius / spacing;
    for d in 1 .. dimensions loop
      looked := looked * (2 * q + 1);
    end loop;
  end if;
  if looked > most then
    raise exception 'sketch: cells: radius % with spacing % in % dimensions is more than % cells', radius, spacing, dimensions, most
      using errcode = 'invalid_parameter_value';
  end if;
  for d in 1 .. dimensions loop
    if spacing < 1e280 and abs(point[d]) > spacing * most_index then
      u[d] := 2 * most_index;
    elsif not (spacing > 1 and abs(point[d]) < spacing * 1e-20) then
      u[d] := point[d] / spacing;
    end if;
    if abs(u[d]) + q > most_index then
      raise exception 'sketch: cells: % % is more than % times the spacing, %', names[d], point[d], most_index, spacing
        using errcode = 'invalid_parameter_value';
    end if;
    low[d] := ceil(u[d] - q)::bigint;
    top[d] := floor(u[d] + q)::bigint;
  end loop;
  for a in 0 .. (top[1] - low[1])::integer loop
    i := low[1] + a;
    first := alike._square(i - u[1]);
    for b in 0 .. (top[2] - low[2])::integer loop
      j := low[2] + b;
      second := first + alike._square(j - u[2]);
      for c in 0 .. (top[3] - low[3])::integer loop
        k := low[3] + c;
        if second + alike._square(k - u[3]) <= q * q then
          cell := concat_ws(',', i, case when dimensions > 1 then j end, case when dimensions > 2 then k end);
          return next;
        end if;
      end loop;
    end loop;
  end loop;
end
$$;
comment on function alike.cells(double precision, double precision, double precision, double precision, double precision) is
  'the grid points within a radius of a point in one to three dimensions: what a measurement is compared by, as the elements of a set';
