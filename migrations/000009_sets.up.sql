-- Sets that are no texts. An element is a shingle, taken as it is, and may have a weight.
-- Here stands what each family of package sketch does with shingles, as definitions
-- rather than as the loops that are quick elsewhere.

-- The number that up to eight bytes are, the first one lowest.
create function alike._little(bytes bytea) returns bigint language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$ select coalesce(bit_or(get_byte(bytes, i)::bigint << 8 * i), 0) from generate_series(0, length(bytes) - 1) as i $$;

-- The shingle of an element: its last bytes below a marker, then its words of eight
-- bytes, the last one first.
create function alike._element(element bytea) returns bigint language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select alike._fingerprint(1,
    alike._little(substr(element, 8 * words + 1)) | (1::bigint << 8 * (length(element) - 8 * words)),
    array(select alike._little(substr(element, 8 * i + 1, 8)) from generate_series(words - 1, 0, -1) as i order by i desc))
  from (select length(element) / 8 as words) as w
$$;

-- Carries the high bits of a product into the low ones.
create function alike._fold(h bigint) returns bigint language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  h := alike._wrap((h # (h >> 32 & 4294967295)) * 15485907386658061715);
  return h # (h >> 29 & 34359738367);
end
$$;

create function alike._mix(x bigint, round integer) returns bigint language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return alike._fold(alike._wrap(x * (11507291218515648293 + round * 11400714819323198486)));
end
$$;

-- fast: three rounds, then a permutation of its own for each bin that none reached.
-- bins: the first round alone. The signed order of flipped numbers is that of
-- numbers without a sign.
create function alike._rounds(xs bigint[], t integer, rounds integer) returns bigint[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  flip constant bigint := -9223372036854775808;
  slots bigint[] := array_fill(-1::bigint, array[t]);
begin
  for round in 0 .. rounds - 1 loop
    exit when array_position(slots, -1::bigint) is null;
    slots := array(
      select least(u.m # flip, b.v) # flip
      from unnest(slots) with ordinality as u(m, i)
      left join (
        select (h >> 32 & 4294967295) * t >> 32 as bin, min((round::bigint << 62 | (h >> 2 & 4611686018427387903)) # flip) as v
        from (select alike._mix(x, round) as h from unnest(xs) as x) mixed
        group by bin) b on b.bin = u.i - 1
      order by u.i);
  end loop;
  if rounds > 1 and array_position(slots, -1::bigint) is not null then
    slots := array(
      select case when u.m = -1 then 3::bigint << 62 | (u.own >> 2 & 4611686018427387903) else u.m end
      from unnest(slots, alike._minima(xs, t)) with ordinality as u(m, own, i) order by u.i);
  end if;
  return slots;
end
$$;

-- The slots, given the first bits of shingles in them: the smallest wins, and among equals
-- the rest, fresh bits, decides.
create function alike._contend(xs bigint[], slots integer[], firsts bigint[], width integer, t integer) returns bigint[] language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(coalesce(w.v # (-9223372036854775808), -1) order by p.slot)
  from alike._permutations(1, t) p
  left join (
    select c.slot, min((c.first << 64 - width | (alike._mix(alike._wrap(q.a::numeric * c.x + q.b), 0) >> width & (1::bigint << 64 - width) - 1)) # (-9223372036854775808)) as v
    from (select u.*, min(u.first) over (partition by u.slot) as least_first from unnest(xs, slots, firsts) as u(x, slot, first)) c
    join alike._permutations(1, t) q on q.slot = c.slot
    where c.first = c.least_first
    group by c.slot
  ) w on w.slot = p.slot
$$;

-- lean: the first bits are a byte of a word that serves eight slots.
create function alike._lean(xs bigint[], t integer) returns bigint[] language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select alike._contend(array_agg(x), array_agg(8 * (p.slot - 1) + lane + 1), array_agg(word >> 8 * lane & 255), 8, t)
  from alike._permutations(1, (t + 7) / 8) p
  cross join unnest(xs) as x
  cross join lateral (select alike._fold(alike._wrap(p.a::numeric * x + p.b)) as word) w
  cross join generate_series(0, 7) as lane
$$;

-- The random words of a shingle from one number to another, as text of 64 bits each,
-- the lowest bit first or the highest.
create function alike._words(x bigint, first integer, last integer, lowest boolean) returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select string_agg(case when lowest then reverse(bits) else bits end, '' order by slot)
  from (select slot, alike._fold(alike._wrap(a::numeric * x + b))::bit(64)::text as bits from alike._permutations(first, last)) w
$$;

-- lean-zeros: the first bits are the zeros before the next one, the most of which win.
create function alike._lean_zeros(xs bigint[], t integer, first integer) returns bigint[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  bits text;
  taken bigint[] := '{}';
  slots integer[] := '{}';
  firsts bigint[] := '{}';
  x bigint;
begin
  foreach x in array xs loop
    for n in 1 .. 10 loop -- until there are t ones
      bits := alike._words(x, first, first + n * (t / 24 + 1), true);
      exit when length(replace(bits, '0', '')) >= t;
    end loop;
    taken := taken || array_fill(x, array[t]);
    slots := slots || array(select generate_series(1, t));
    firsts := firsts || array(select 63 - least(length(zeros), 63)::bigint from unnest((string_to_array(bits, '1'))[1:t]) with ordinality as u(zeros, i) order by i);
  end loop;
  return alike._contend(taken, slots, firsts, 6, t);
end
$$;

-- Where the numbers of 32 bits begin that stand for 0, 1, 2 … ones before a zero, when a
-- bit is a zero once in 64 times; last the end.
create function alike._gaps() returns bigint[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  survive bigint := 4294967296;
  result bigint[] := '{}';
begin
  loop
    result := result || (4294967296 - survive);
    exit when survive >> 6 = 0;
    survive := survive - (survive >> 6);
  end loop;
  return result || 4294967296;
end
$$;

-- lean-biased: a shingle is in the slots where such a bit is a zero. The ones before the
-- next are drawn from as few fair bits as tell their number, then the zeros
-- before a one decide as in lean-zeros.
create function alike._lean_biased(xs bigint[], t integer) returns bigint[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  gaps constant bigint[] := alike._gaps();
  bits text;
  place integer;
  slot integer;
  low bigint;
  gap integer;
  zeros integer;
  taken bigint[] := '{}';
  slots integer[] := '{}';
  firsts bigint[] := '{}';
  result bigint[];
  x bigint;
begin
  foreach x in array xs loop
    bits := '';
    place := 1;
    slot := 0;
    loop
      if length(bits) < place + 96 then -- a gap takes 32 bits at most, zeros more than 64 never
        bits := alike._words(x, 1, length(bits) / 64 + 3 + t / 512, false);
      end if;
      for n in 1 .. 32 loop
        low := rpad(substr(bits, place, n), 32, '0')::bit(32)::bigint;
        gap := width_bucket(low, gaps) - 1;
        if low + (1::bigint << 32 - n) <= gaps[gap + 2] then
          place := place + n;
          exit;
        end if;
      end loop;
      slot := slot + gap + 1;
      exit when slot > t;
      zeros := position('1' in substr(bits, place)) - 1;
      place := place + zeros + 1;
      taken := taken || x;
      slots := slots || slot;
      firsts := firsts || (63 - least(zeros, 63))::bigint;
    end loop;
  end loop;
  result := alike._contend(taken, slots, firsts, 7, t);
  if array_position(result, -1::bigint) is not null then
    -- Where no shingle has a zero lean-zeros decides, by other words.
    result := array(
      select case when u.m = -1 then (-9223372036854775808) | (u.z >> 1 & 9223372036854775807) else u.m end
      from unnest(result, alike._lean_zeros(xs, t, 2049)) with ordinality as u(m, z, i) order by u.i);
  end if;
  return result;
end
$$;

-- Consistent weighted sampling: different elements with their weights.
create function alike._weighted(xs bigint[], weights double precision[], t integer) returns bigint[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  result bigint[] := '{}';
  half constant double precision := 0.5;
  scale constant double precision := 1::double precision / 4294967296::double precision;
  logs constant double precision[] := array(select alike._logarithm(w) from unnest(weights) with ordinality as u(w, n) order by n);
  plain constant boolean := (select bool_and(w between 1e-100 and 1e100) from unnest(weights) as w);
  p record;
  h bigint;
  mixed bigint;
  u double precision;
  v double precision;
  beta double precision;
  r double precision;
  k double precision;
  rank double precision;
  lowest double precision;
  within double precision;
begin
  for p in select * from alike._permutations(1, t) loop
    lowest := 'Infinity';
    within := 'Infinity';
    for i in 1 .. cardinality(xs) loop
      h := alike._wrap(p.a::numeric * xs[i] + p.b);
      mixed := alike._mix(h, 0);
      u := ((mixed >> 32 & 4294967295) + half) * scale * (((mixed & 4294967295) + half) * scale);
      mixed := alike._mix(h, 1);
      v := ((mixed >> 32 & 4294967295) + half) * scale * (((mixed & 4294967295) + half) * scale);
      -- A bound without logarithms, see weighted.go: it decides the time alone.
      continue when 3 * (1 - v) * (1 + v) * u >= within * weights[i] * (1 + v * (4 + v));
      beta := ((alike._mix(h, 2) >> 32 & 4294967295) + half) * scale;
      r := -alike._logarithm(u);
      k := floor(logs[i] / r + beta);
      rank := alike._logarithm(-alike._logarithm(v)) - r * (k - beta + 1);
      if rank < lowest then
        lowest := rank;
        if plain and abs(rank) < 300 then
          within := exp(rank) * 1.000000001::double precision;
        end if;
      end if;
    end loop;
    h := ('x' || encode(float8send(lowest), 'hex'))::bit(64)::bigint;
    result := result || case when h < 0 then ~h else h | (-9223372036854775808) end;
  end loop;
  return result;
end
$$;

-- The sketch of a set. Without weights an element that is there again is a repeated
-- shingle; with weights the families but weighted take it as often as they say.
create function alike._set_sketch(settings text, elements bigint[], weights double precision[]) returns bytea language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p alike.profile_fields := alike._parse(settings);
  xs bigint[];
  list record;
begin
  if coalesce(cardinality(elements), 0) = 0 then
    return null;
  elsif p.without <> 0 then
    raise exception 'sketch: profile "%": the list of shingles that the profile leaves out is needed', alike._spell(p) using errcode = 'invalid_parameter_value';
  end if;
  p.stream := 6;
  p.w := 1;
  p.other_case := false;
  p.tokens := 0;
  if p.family = 7 then
    begin
      select array_agg(x), array_agg(weight) into xs, weights
      from (select x, coalesce(sum(w order by n), count(*)) as weight from unnest(elements, weights) with ordinality as u(x, w, n) group by x) summed;
    exception
      when numeric_value_out_of_range then
        raise exception 'sketch: the weights of an element add up to more than 1.7976931348623157e+308' using errcode = 'invalid_parameter_value';
    end;
    return alike._encode(p, 0, alike._weighted(xs, weights, p.t));
  end if;
  xs := array(
    select case when n = 1 and not p.bag then x else alike._fingerprint(3, x, array[n]) end
    from (select x, case when weights is null and not p.bag then 1 else coalesce(sum(w), count(*)) end::bigint as often from unnest(elements, weights) as u(x, w) group by x) counted
    cross join generate_series(1, often) as n);
  if alike._slots(p.family) then
    return alike._encode(p, 0, case p.family
      when 4 then alike._rounds(xs, p.t, 3)
      when 5 then alike._lean(xs, p.t)
      when 6 then alike._rounds(xs, p.t, 1)
      when 8 then alike._lean_zeros(xs, p.t, 1)
      when 9 then alike._lean_biased(xs, p.t)
      else alike._minima(xs, p.t) end);
  end if;
  list := alike._kept(p, 0, array(
    select int8send(h) from (select alike._mix(x, 0) as h from unnest(xs) as x) mixed
    where p.modulus = 0 or mod(case when h < 0 then h + 18446744073709551616 else h end, p.modulus) = 0));
  return alike._encode(p, list.exponent, alike._numbers(list.list));
end
$$;

create function alike.size(sketch bytea) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p constant alike.profile_fields := alike._header(sketch);
  n double precision;
  u double precision;
  waits double precision := 0;
  list bytea[];
  m bigint;
begin
  if p.family in (7, 9) then
    raise exception 'sketch: the family % tells no size, this sketch is "%"', (alike._families())[p.family + 1], alike._spell(p) using errcode = 'data_exception';
  elsif not alike._slots(p.family) then
    list := alike._list_values(sketch);
    n := cardinality(list);
    if p.family = 1 and n = p.size then
      if p.size = 1 then
        raise exception 'sketch: size needs at least two values, this sketch is "%"', alike._spell(p) using errcode = 'data_exception';
      end if;
      m := (alike._numbers(list[cardinality(list):]))[1];
      return (n - 1) / ((case when m < 0 then m + 18446744073709551616 else m end)::double precision / 18446744073709551616::double precision) * greatest(p.modulus, 1)::double precision;
    end if;
    return n * greatest(p.modulus, 1)::double precision * (2::numeric ^ get_byte(sketch, 13))::double precision;
  end if;
  foreach m in array alike._whole(sketch, 'size') loop
    if p.t = 1 then
      raise exception 'sketch: size needs at least two values, this sketch is "%"', alike._spell(p) using errcode = 'data_exception';
    elsif p.family in (4, 6) then
      -- A bin of the first round waits until its first value, or for all of its length.
      if m >> 62 & 3 <> 0 or m = -1 then
        waits := waits + 1;
      else
        n := coalesce(n, 0) + 1;
        waits := waits + (((m >> 30 & 4294967295) * p.t & 4294967295) + 0.5::double precision) * (1::double precision / 4294967296::double precision);
      end if;
    else
      -- The smallest of n numbers from 0 to 1 lies above u with probability (1-u)^n.
      u := ((m >> case p.family when 8 then 6 else 12 end & 4503599627370495) + 0.5::double precision) * (1::double precision / 4503599627370496::double precision);
      if p.family = 8 then
        u := (1 + u) * 0.5::double precision;
        for zero in 1 .. 63 - (m >> 58 & 63) loop
          u := u * 0.5::double precision;
        end loop;
      end if;
      waits := waits - alike._logarithm(1 - u);
    end if;
  end loop;
  return case when p.family in (4, 6) then coalesce(n, 0) else 1 end * (p.t - 1)::double precision / waits;
end
$$;
comment on function alike.size(bytea) is 'an estimate of how many distinct shingles the document of a sketch has; needs whole minima';

-- What alike.sketch_set has been given so far, where it is given weights.
create type alike.weighed as (settings text, family integer, elements bigint[], weights double precision[]);

create function alike._weigh(so_far alike.weighed, element bytea, weight double precision, settings text) returns alike.weighed language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if element is null or weight is null or settings is null then
    return so_far;
  elsif so_far.settings is null then
    so_far.settings := settings;
    so_far.family := (alike._parse(settings)).family;
  elsif so_far.settings <> settings then
    raise exception 'one set has two profiles, "%" and "%"', left(so_far.settings, 60), left(settings, 60) using errcode = 'invalid_parameter_value';
  end if;
  if not (weight >= 0 and weight < 'Infinity') then
    raise exception 'sketch: weight %, want a finite number of at least 0', weight using errcode = 'invalid_parameter_value';
  elsif so_far.family <> 7 and weight <> floor(weight) then
    raise exception 'sketch: weight % under the family %, want a whole number; the family weighted takes fractions', weight, (alike._families())[so_far.family + 1]
      using errcode = 'invalid_parameter_value';
  elsif so_far.family <> 7 and weight > 1000000 then
    raise exception 'sketch: weight % under the family %, want at most 1000000; the family weighted takes more', weight, (alike._families())[so_far.family + 1]
      using errcode = 'invalid_parameter_value';
  end if;
  if weight > 0 then
    so_far.elements := so_far.elements || alike._element(element);
    so_far.weights := so_far.weights || weight;
  end if;
  return so_far;
end
$$;

create function alike._weighed(so_far alike.weighed) returns bytea language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select alike._set_sketch(so_far.settings, so_far.elements, so_far.weights) where so_far.settings is not null $$;

-- An element is text, bytes or a whole number, which is taken as it is written.
do $$
declare
  element record;
begin
  for element in select * from (values ('text', 'convert_to(%s, ''UTF8'')'), ('bytea', '%s'), ('bigint', 'convert_to(%s::text, ''UTF8'')')) as v(type, bytes) loop
    execute format('create function alike._set(elements %s[]) returns bytea language sql stable parallel safe set search_path = pg_catalog, pg_temp as %L',
      element.type, format('select alike._set_sketch('''', array(select alike._element(%s) from unnest(elements) as e where e is not null), null)', format(element.bytes, 'e')));
    execute format('create aggregate alike.sketch_set(element %1$s) (sfunc = pg_catalog.array_append, stype = %1$s[], finalfunc = alike._set, parallel = safe)', element.type);
    if element.type <> 'bytea' then
      execute format('create function alike._weigh(so_far alike.weighed, element %s, weight double precision, settings text) returns alike.weighed language sql stable parallel safe set search_path = pg_catalog, pg_temp as %L',
        element.type, format('select alike._weigh(so_far, %s, weight, settings)', format(element.bytes, 'element')));
    end if;
    execute format('create function alike._weigh(so_far alike.weighed, element %s, weight double precision) returns alike.weighed language sql stable parallel safe set search_path = pg_catalog, pg_temp as %L',
      element.type, 'select alike._weigh(so_far, element, weight, '''')');
    execute format('create aggregate alike.sketch_set(element %s, weight double precision) (sfunc = alike._weigh, stype = alike.weighed, finalfunc = alike._weighed, parallel = safe)', element.type);
    execute format('create aggregate alike.sketch_set(element %s, weight double precision, profile text) (sfunc = alike._weigh, stype = alike.weighed, finalfunc = alike._weighed, parallel = safe)', element.type);
    execute format('comment on aggregate alike.sketch_set(%s) is %L', element.type, 'the sketch of a set spread over rows');
    execute format('comment on aggregate alike.sketch_set(%s, double precision) is %L', element.type, 'the sketch of a set spread over rows whose elements have weights');
    execute format('comment on aggregate alike.sketch_set(%s, double precision, text) is %L', element.type, 'the sketch of a set spread over rows whose elements have weights, under a profile');
  end loop;
end
$$;

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
  max_cells constant double precision := 1048576;
  max_index constant double precision := 4503599627370496;
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
  if spacing < 1e300 and radius > spacing * max_cells then
    looked := 'Infinity';
  else
    q := radius / spacing;
    for d in 1 .. dimensions loop
      looked := looked * (2 * q + 1);
    end loop;
  end if;
  if looked > max_cells then
    raise exception 'sketch: cells: radius % with spacing % in % dimensions is more than % cells', radius, spacing, dimensions, max_cells
      using errcode = 'invalid_parameter_value';
  end if;
  for d in 1 .. dimensions loop
    if spacing < 1e280 and abs(point[d]) > spacing * max_index then
      u[d] := 2 * max_index;
    elsif not (spacing > 1 and abs(point[d]) < spacing * 1e-20) then
      u[d] := point[d] / spacing;
    end if;
    if abs(u[d]) + q > max_index then
      raise exception 'sketch: cells: % % is more than % times the spacing, %', names[d], point[d], max_index, spacing
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
