-- What two stored sketches say about two documents. The same arithmetic in the
-- same order as package sketch, so that the same bits come out.

-- The lowest bit of each group of so many bits is set when any bit of the
-- group was; the others are cleared. The shifts double the reach, and what
-- they bring in from the next group is masked away.
create function alike._differing(x bit varying, bits integer) returns integer language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  shift integer := bits / 2;
begin
  while shift > 0 loop
    x := x | (x >> shift);
    shift := shift / 2;
  end loop;
  if bits > 1 then
    x := x & substring(('x' || repeat(case bits
      when 2 then '55'
      when 4 then '11'
      when 8 then '01'
      else '0000000000000001'
    end, (length(x) + greatest(bits, 8) - 1) / greatest(bits, 8)))::bit varying, 1, length(x));
  end if;
  return length(replace(x::text, '0', ''));
end
$$;

do $$
begin
  -- PostgreSQL 14 counts the bits of a string itself.
  if current_setting('server_version_num')::integer >= 140000 then
    execute replace(pg_get_functiondef('alike._differing(bit varying, integer)'::regprocedure),
      'length(replace(x::text, ''0'', ''''))', 'bit_count(x)');
  end if;
end
$$;

-- The slots of a sketch at no more than so many bits (64: all), as text; NULL
-- for an empty bin. Cutting is FORMAT.md's: the top bits of m times
-- 0x9e3779b97f4a7c15.
create function alike._slot_values(sketch bytea, p alike.profile_fields, kept integer) returns text[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  result text[] := '{}';
  start integer := 20;
  bits bit varying;
  slot text;
begin
  if p.family = 6 then
    start := start + (p.t + 7) / 8;
  end if;
  bits := ('x' || encode(substr(sketch, start + 1), 'hex'))::bit varying;
  for i in 0 .. p.t - 1 loop
    if p.family = 6 and get_byte(sketch, 20 + i / 8) >> (7 - i % 8) & 1 = 0 then
      slot := null;
    elsif p.bits = kept then
      slot := substring(bits, i * p.bits + 1, p.bits)::text;
    elsif p.bits < 64 then
      slot := substring(bits, i * p.bits + 1, kept)::text;
    else
      slot := substring(alike._times(substring(bits, i * 64 + 1, 64)::bit(64)::bigint, -7046029254386353131)::bit(64), 1, kept)::text;
    end if;
    result := array_append(result, slot);
  end loop;
  return result;
end
$$;

-- a times b modulo 2^64.
create function alike._times(a bigint, b bigint) returns bigint language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  product numeric := mod(a::numeric * b::numeric, 18446744073709551616);
begin
  if product < -9223372036854775808 then
    product := product + 18446744073709551616;
  elsif product > 9223372036854775807 then
    product := product - 18446744073709551616;
  end if;
  return product::bigint;
end
$$;

-- The values of a list at an exponent, checked to ascend.
create function alike._list_values(sketch bytea, exponent integer) returns bytea[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  result bytea[] := '{}';
  value bytea;
  previous bytea;
  mask bit(64) := ~((-1)::bigint::bit(64) << exponent);
begin
  for i in 0 .. (length(sketch) - 20) / 8 - 1 loop
    value := substr(sketch, 21 + 8 * i, 8);
    if value <= previous then
      raise exception 'sketch: decode: value % of the list does not ascend', i using errcode = 'data_exception';
    end if;
    previous := value;
    if exponent = 0 or ('x' || encode(value, 'hex'))::bit(64) & mask = 0::bigint::bit(64) then
      result := result || value;
    end if;
  end loop;
  return result;
end
$$;

-- The resemblance at which the expected share of matches is the one given. Of
-- the trials, chances could have matched by luck, each with probability 2^-bits.
create function alike._resemblance(share double precision, chances integer, trials integer, bits integer) returns double precision
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  luck double precision;
begin
  if bits >= 64 then
    return share;
  end if;
  luck := 1 / (1::bigint << bits)::double precision;
  return (share - luck * chances::double precision / trials::double precision) / (1 - luck);
end
$$;

-- What two sketches have in common: samples that match, samples compared, of
-- those how many could match by luck and how many are a's, and the bits of each.
create function alike._compare(a bytea, b bytea, out matches integer, out trials integer, out chances integer, out in_a integer, out kept integer)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p alike.profile_fields := alike._header(a);
  q alike.profile_fields;
  x text[];
  y text[];
  u bytea[];
  v bytea[];
  exponent integer;
begin
  if length(a) = length(b) and substr(a, 1, 20) = substr(b, 1, 20) then
    q := p;
  else
    q := alike._header(b);
  end if;
  kept := least(p.bits, q.bits);
  if p.bits <> q.bits then
    p.bits := 64;
    q.bits := 64;
  end if;
  if p <> q then
    raise exception 'sketches of different profiles: "%" and "%"', alike.profile(a), alike.profile(b) using errcode = 'data_exception';
  end if;
  p.bits := get_byte(a, 5);
  q.bits := get_byte(b, 5);
  if not alike._slots(p.family) then
    exponent := greatest(get_byte(a, 13), get_byte(b, 13));
    u := alike._list_values(a, exponent);
    v := alike._list_values(b, exponent);
    select count(*) filter (where ins = 3), count(*), count(*) filter (where ins & 1 = 1) into matches, trials, in_a
    from (
      select bit_or(side) as ins
      from (select unnest(u) as value, 1 as side union all select unnest(v), 2) as both_lists
      group by value
      order by value
      limit case when p.family = 1 then p.size end
    ) as values_of_union;
    chances := trials;
    return;
  end if;
  if p.bits = q.bits and p.family <> 6 then
    matches := p.t - alike._differing(
      ('x' || encode(substr(a, 21), 'hex'))::bit varying # ('x' || encode(substr(b, 21), 'hex'))::bit varying, p.bits);
    trials := p.t;
    chances := p.t;
    return;
  end if;
  x := alike._slot_values(a, p, kept);
  y := alike._slot_values(b, q, kept);
  matches := 0;
  trials := 0;
  chances := 0;
  for i in 1 .. p.t loop
    if x[i] is not null or y[i] is not null then
      trials := trials + 1;
    end if;
    if x[i] is not null and y[i] is not null then
      chances := chances + 1;
    end if;
    if x[i] = y[i] then
      matches := matches + 1;
    end if;
  end loop;
end
$$;

create function alike.resemblance(a bytea, b bytea) returns double precision language plpgsql immutable strict parallel safe
cost 2000
set search_path = pg_catalog, pg_temp
as $$
declare
  x bit varying;
  c record;
  luck constant double precision := 1.0::double precision / 256;
begin
  -- Questions verify every candidate here: equal headers with 84 slots of
  -- eight bits, the default, go without anything that can be spared. It is
  -- _compare and _differing, spelled out.
  if length(a) = 104 and length(b) = 104 and substr(a, 1, 20) = substr(b, 1, 20) and substr(a, 9, 2) = '\x0054'::bytea
     and get_byte(a, 5) = 8 and get_byte(a, 0) = 161 and get_byte(a, 1) = 1 and get_byte(a, 4) in (0, 4, 5, 7, 8, 9) then
    x := ('x' || encode(substr(a, 21), 'hex'))::bit varying # ('x' || encode(substr(b, 21), 'hex'))::bit varying;
    x := x | (x >> 4);
    x := x | (x >> 2);
    x := (x | (x >> 1)) & X'010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101'::bit varying;
    return greatest(0, ((84 - length(replace(x::text, '0', ''))) / 84::double precision - luck) / (1 - luck));
  end if;
  c := alike._compare(a, b);
  return case when c.trials = 0 then 0
    else greatest(0, alike._resemblance(c.matches / c.trials::double precision, c.chances, c.trials, c.kept)) end;
end
$$;
comment on function alike.resemblance(bytea, bytea) is 'an estimate of |A and B| / |A or B| from two sketches';

do $$
begin
  if current_setting('server_version_num')::integer >= 140000 then
    execute replace(pg_get_functiondef('alike.resemblance(bytea, bytea)'::regprocedure),
      'length(replace(x::text, ''0'', ''''))', 'bit_count(x)');
  end if;
end
$$;
comment on function alike.resemblance(bytea, bytea) is 'an estimate of |A and B| / |A or B| from two sketches';

create function alike.containment(a bytea, b bytea) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  c record := alike._compare(a, b);
begin
  if get_byte(a, 4) not in (2, 3) then
    raise exception 'sketch: containment needs the family mod or scaled, this sketch is "%"', alike.profile(a) using errcode = 'data_exception';
  end if;
  return case when c.in_a = 0 then 0 else c.matches / c.in_a::double precision end;
end
$$;
comment on function alike.containment(bytea, bytea) is 'an estimate of |A and B| / |A|, how much of a is in b; needs the family mod or scaled';

-- The tail of the binomial distribution: m matches or more of n, each with
-- probability p. The terms are relative to the largest, so that none underflows.
create function alike._binomial_tail(n integer, m integer, p double precision) returns double precision
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  up double precision := p / (1 - p);
  down double precision := (1 - p) / p;
  mode integer := least(floor((n + 1)::double precision * p)::integer, n);
  total double precision := 1;
  tail double precision := case when mode >= m then 1 else 0 end;
  w double precision := 1;
begin
  for k in mode .. n - 1 loop
    w := w * (n - k)::double precision / (k + 1)::double precision * up;
    exit when w < 1e-100;
    total := total + w;
    if k + 1 >= m then
      tail := tail + w;
    end if;
  end loop;
  w := 1;
  for k in reverse mode .. 1 loop
    w := w * k::double precision / (n - k + 1)::double precision * down;
    exit when w < 1e-100;
    total := total + w;
    if k - 1 >= m then
      tail := tail + w;
    end if;
  end loop;
  return tail / total;
end
$$;

create function alike._binomial_lower(n integer, m integer, confidence double precision) returns double precision
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  alpha double precision := (1 - confidence) * 0.5::double precision;
  low double precision := 0;
  high double precision := 1;
  mid double precision;
begin
  if m = 0 then
    return 0;
  end if;
  for i in 1 .. 40 loop
    mid := (low + high) * 0.5::double precision;
    if alike._binomial_tail(n, m, mid) < alpha then
      low := mid;
    else
      high := mid;
    end if;
  end loop;
  return low;
end
$$;

-- The lower end, from the table when it is there.
create function alike._lower(n integer, m integer, confidence double precision) returns double precision
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    case when confidence = 0.95::double precision then (select lower from alike.lower_bound where trials = n and matches = m) end,
    alike._binomial_lower(n, m, confidence))
$$;

create function alike._bounds(a bytea, b bytea, confidence double precision,
  out low double precision, out estimate double precision, out high double precision)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  c record;
begin
  if not (confidence > 0 and confidence < 1) then
    raise exception 'sketch: bounds: confidence %, want above 0 and below 1', confidence using errcode = 'invalid_parameter_value';
  end if;
  c := alike._compare(a, b);
  if c.trials = 0 then
    low := 0;
    estimate := 0;
    high := 1;
    return;
  end if;
  low := least(1, greatest(0, alike._resemblance(alike._lower(c.trials, c.matches, confidence), c.chances, c.trials, c.kept)));
  estimate := least(1, greatest(0, alike._resemblance(c.matches / c.trials::double precision, c.chances, c.trials, c.kept)));
  high := least(1, greatest(0, alike._resemblance(1 - alike._lower(c.trials, c.trials - c.matches, confidence), c.chances, c.trials, c.kept)));
end
$$;

create function alike.bounds(a bytea, b bytea, confidence double precision default 0.95) returns json
language plpgsql stable strict parallel safe
set search_path = pg_catalog, pg_temp
set extra_float_digits = 1
as $$
declare
  found record := alike._bounds(a, b, confidence);
begin
  return json_build_object('low', found.low, 'estimate', found.estimate, 'high', found.high);
end
$$;
comment on function alike.bounds(bytea, bytea, double precision) is 'the estimate and its confidence interval (0.95 unless given)';

-- Features of a sketch with whole minima: fingerprints of k groups of s minima
-- (Broder 2000, section 3). The remainder is taken a byte at a time;
-- entry i of the table is i·t^64 mod P2.
create function alike._feature_table() returns bigint[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  result bigint[] := '{}';
  remainder bigint;
begin
  for i in 0 .. 255 loop
    remainder := i::bigint << 56;
    for bit in 1 .. 8 loop
      remainder := (remainder << 1) # case when remainder < 0 then x'f6e1b0942d071963'::bigint else 0 end;
    end loop;
    result := result || remainder;
  end loop;
  return result;
end
$$;

create function alike._features(sketch bytea) returns bigint[] language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p alike.profile_fields := alike._header(sketch);
  residue bigint[];
  result bigint[] := '{}';
  h bigint;
  start integer := 20;
  width integer;
  at integer;
  empty boolean;
begin
  if not alike._slots(p.family) then
    raise exception 'sketch: the features of the family % are computed by the worker', (alike._families())[p.family + 1]
      using errcode = 'feature_not_supported';
  elsif p.bits <> 64 then
    raise exception 'sketch: features needs whole minima, this sketch keeps % bits of each', p.bits using errcode = 'data_exception';
  end if;
  residue := alike._feature_table();
  if p.family = 6 then
    start := start + (p.t + 7) / 8;
  end if;
  width := 8 * p.s;
  for g in 0 .. p.k - 1 loop
    -- The group's number, its minima and 64 zeros; the first eight bytes,
    -- the number, need no reduction.
    h := g + 1;
    empty := p.family = 6;
    for i in 0 .. p.s - 1 loop
      exit when not empty;
      empty := get_byte(sketch, 20 + (g * p.s + i) / 8) >> (7 - (g * p.s + i) % 8) & 1 = 0;
    end loop;
    if empty then
      result := array_append(result, null);
      continue;
    end if;
    for i in 0 .. p.s - 1 loop
      at := g * p.s + i;
      for byte in 0 .. 7 loop
        h := (h << 8) # residue[(h >> 56 & 255) + 1]
          # case when p.family = 6 and get_byte(sketch, 20 + at / 8) >> (7 - at % 8) & 1 = 0 then 255
                 else get_byte(sketch, start + 8 * at + byte) end;
      end loop;
    end loop;
    for byte in 1 .. 8 loop
      h := (h << 8) # residue[(h >> 56 & 255) + 1];
    end loop;
    result := result || h;
  end loop;
  return result;
end
$$;

create function alike.si_low(si bigint, fraction double precision default 0.3) returns double precision
language sql immutable strict parallel safe
as $$ select si::double precision operator(pg_catalog.-) pg_catalog.abs(si::double precision operator(pg_catalog.*) fraction) $$;
comment on function alike.si_low(bigint, double precision) is 'the open lower bound of the range of similar documents (Roth 2011, Figure 2)';

create function alike.si_high(si bigint, fraction double precision default 0.3) returns double precision
language sql immutable strict parallel safe
as $$ select si::double precision operator(pg_catalog.+) pg_catalog.abs(si::double precision operator(pg_catalog.*) fraction) $$;
comment on function alike.si_high(bigint, double precision) is 'the open upper bound of the range of similar documents (Roth 2011, Figure 2)';
