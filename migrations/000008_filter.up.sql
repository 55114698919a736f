-- The arithmetic of the filter (Broder 2000, sections 3 and 4), in the order
-- of package sketch.

create function alike._check_filter(k integer, s integer, r integer) returns void language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if k not between 1 and 255 then
    raise exception 'sketch: filter: % groups, want 1 to 255', k using errcode = 'invalid_parameter_value';
  elsif s not between 1 and 255 then
    raise exception 'sketch: filter: groups of % minima, want 1 to 255', s using errcode = 'invalid_parameter_value';
  elsif r not between 1 and k then
    raise exception 'sketch: filter: % shared features, want 1 to %, the number of groups', r, k using errcode = 'invalid_parameter_value';
  end if;
end
$$;

-- rho to the power of s, where less than 1e-150 is 0.
create function alike._power(rho double precision, s integer) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p double precision := 1;
begin
  for i in 1 .. s loop
    p := p * rho;
    if p < 1e-150 then
      return 0;
    end if;
  end loop;
  return p;
end
$$;

create function alike.filter(k integer, s integer, r integer, resemblance double precision) returns double precision
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p double precision;
  q double precision;
  d double precision[]; -- d[i+1]: exactly i groups are equal
  a double precision := 0;
  term double precision;
begin
  perform alike._check_filter(k, s, r);
  if not (resemblance >= 0 and resemblance <= 1) then
    raise exception 'sketch: filter: the resemblance is %, want a number from 0 to 1', resemblance using errcode = 'invalid_parameter_value';
  end if;
  p := alike._power(resemblance, s);
  q := 1 - p;
  d := array_fill(0::double precision, array[r]);
  d[1] := 1;
  for n in 1 .. k loop
    term := d[r] * p;
    if term >= 1e-150 then
      a := a + term;
    end if;
    for i in reverse r .. 1 loop
      term := d[i] * q;
      if term < 1e-150 then
        term := 0;
      end if;
      if i > 1 and d[i - 1] * p >= 1e-150 then
        term := term + d[i - 1] * p;
      end if;
      d[i] := term;
    end loop;
  end loop;
  return least(a, 1);
end
$$;
comment on function alike.filter(integer, integer, integer, double precision) is
  'the probability that two documents of this resemblance share at least r of k features of s minima';

create function alike.half_point(k integer, s integer, r integer) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  low double precision := 0;
  high double precision := 1;
  mid double precision := 0.5;
begin
  perform alike._check_filter(k, s, r);
  for i in 1 .. 52 loop
    mid := (low + high) * 0.5::double precision;
    if alike.filter(k, s, r, mid) < 0.5 then
      low := mid;
    else
      high := mid;
    end if;
  end loop;
  return mid;
end
$$;
comment on function alike.half_point(integer, integer, integer) is
  'the resemblance at which a filter accepts half of the pairs (Broder 2000, section 4)';

-- The natural logarithm as weighted.go computes it.
create function alike._logarithm(x double precision) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  e integer := 0;
  b bigint := ('x' || encode(float8send(x), 'hex'))::bit(64)::bigint;
  m double precision;
  s double precision;
  z double precision;
  p double precision := 0;
begin
  if b >> 52 = 0 then
    b := ('x' || encode(float8send(x * 18014398509481984::double precision), 'hex'))::bit(64)::bigint;
    e := -54;
  end if;
  e := e + (b >> 52)::integer - 1023;
  m := 1::double precision + (b & 4503599627370495)::double precision / 4503599627370496::double precision;
  if m > 1.4142135623730951::double precision then
    m := m * 0.5::double precision;
    e := e + 1;
  end if;
  s := (m - 1) / (m + 1);
  z := s * s;
  for n in reverse 11 .. 1 loop
    p := z * (p + 1::double precision / (2 * n + 1)::double precision);
  end loop;
  return e::double precision * 0.6931471805599453::double precision + (2 * s + 2 * s * p);
end
$$;

-- Equation 3 of Broder 2000 and its inverse.
create function alike.steepest_group(resemblance double precision) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if not (resemblance > 0 and resemblance < 1) then
    raise exception 'the resemblance is %, want a number between 0 and 1', resemblance using errcode = 'invalid_parameter_value';
  end if;
  return -1 / alike._logarithm(resemblance);
end
$$;
comment on function alike.steepest_group(double precision) is
  'the size of a group of minima for which the filter is steepest at a resemblance (Broder 2000, equation 3)';

create function alike.steepest_resemblance(s integer) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  e double precision := 1;
begin
  if s < 1 then
    raise exception 's is %, want at least 1', s using errcode = 'invalid_parameter_value';
  end if;
  for i in reverse 25 .. 1 loop
    e := 1 - (1::double precision / s::double precision / i::double precision) * e;
  end loop;
  return e;
end
$$;
comment on function alike.steepest_resemblance(integer) is
  'the resemblance at which a filter of groups of s minima is steepest (Broder 2000, equation 3)';

-- Fingerprints of some bits in place of the shingles themselves (Broder 1997, section 4.1).
create function alike._check_bits(bits integer) returns void language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if bits not between 1 and 64 then
    raise exception 'fingerprints of % bits, want 1 to 64', bits using errcode = 'invalid_parameter_value';
  end if;
end
$$;

create function alike._check_count(count double precision) returns void language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if not (count between 0 and 1e100) then
    raise exception 'the number of shingles is %, want 0 to 1e+100', count using errcode = 'invalid_parameter_value';
  end if;
end
$$;

create function alike.collision_bound(bits_of_a integer, bits_of_b integer, bits integer) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform alike._check_bits(bits);
  if least(bits_of_a, bits_of_b) < 0 then
    raise exception 'a string of % bits, want at least 0', least(bits_of_a, bits_of_b) using errcode = 'invalid_parameter_value';
  end if;
  return least(1, greatest(bits_of_a, bits_of_b)::double precision / (2::numeric ^ (bits - 1))::double precision);
end
$$;
comment on function alike.collision_bound(integer, integer, integer) is
  'a bound on the probability that two strings, of these numbers of bits, have one fingerprint of the last number (Broder 1997, section 4.1)';

create function alike.expected_collisions(shingles double precision, bits integer) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform alike._check_bits(bits), alike._check_count(shingles);
  return shingles * (shingles - 1) / 2 / (2::numeric ^ bits)::double precision;
end
$$;
comment on function alike.expected_collisions(double precision, integer) is
  'the expected number of pairs among different shingles that share a fingerprint of this number of bits';

create function alike.fingerprint_error(shingles double precision, bits integer) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform alike._check_bits(bits), alike._check_count(shingles);
  return least(1, shingles * 2048 / (2::numeric ^ bits)::double precision);
end
$$;
comment on function alike.fingerprint_error(double precision, integer) is
  'how far fingerprints of this number of bits move the resemblance of two documents, whose shingles are counted together, but for one case in a thousand';

create function alike.fingerprint_bits(shingles double precision, error double precision) returns integer language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if not (error > 0 and error <= 1) then
    raise exception 'the error is %, want above 0 and at most 1', error using errcode = 'invalid_parameter_value';
  end if;
  for bits in 1 .. 64 loop
    if alike.fingerprint_error(shingles, bits) <= error then
      return bits;
    end if;
  end loop;
  raise exception '64 bits are too few for % shingles and an error of %', shingles, error using errcode = 'invalid_parameter_value';
end
$$;
comment on function alike.fingerprint_bits(double precision, double precision) is
  'how long fingerprints have to be, that the resemblance of two documents, whose shingles are counted together, moves by no more than the error';

-- The probability that a group of s minima is equal at each of the eleven resemblances
-- of the margin, from a threshold to a tenth above.
create function alike._margin(s integer, at_least double precision) returns double precision[] language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(alike._power(least(1, at_least + i::double precision * 0.1::double precision / 10), s) order by i) from generate_series(0, 10) as i
$$;

-- The share of the pairs at a threshold and a little above that share a feature: the mean
-- of alike.filter(k, s, 1) at the resemblances of the margin, in the order of
-- ThresholdRecall in package sketch.
create function alike._threshold_recall(k integer, s integer, at_least double precision) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  total double precision := 0;
  exactly double precision;
  found double precision;
  equal double precision;
  p double precision;
begin
  perform alike._check_filter(k, s, 1);
  if not (at_least > 0 and at_least <= 1) then
    raise exception 'sketch: filter: threshold %, want above 0 and at most 1', at_least using errcode = 'invalid_parameter_value';
  end if;
  foreach p in array alike._margin(s, at_least) loop
    exactly := 1;
    found := 0;
    for n in 1 .. k loop
      equal := exactly * p;
      if equal >= 1e-150 then
        found := found + equal;
      end if;
      exactly := exactly * (1 - p);
      if exactly < 1e-150 then
        exactly := 0;
      end if;
    end loop;
    total := total + least(found, 1);
  end loop;
  return total / 11;
end
$$;

-- The threshold that k groups of s minima are made for: the smallest hundredth at which they
-- find 0.95 of the pairs there and a little above.
create function alike._filter_threshold(k integer, s integer) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  low integer := 1;
  high integer := 100;
  mid integer;
begin
  while low < high loop
    mid := (low + high) / 2;
    if alike._threshold_recall(k, s, mid / 100::double precision) >= 0.95 then
      high := mid;
    else
      low := mid + 1;
    end if;
  end loop;
  return low / 100::double precision;
end
$$;

-- The filter for a threshold: for every s to 16 the smallest k to 40 that finds enough in k·s
-- slots to 168, and of these the one with the smallest cost: 200·k and the unrelated rows
-- among a million that share a feature. Where nothing finds enough it is 40 groups of one.
-- The arithmetic is that of ThresholdFilter in package sketch.
create function alike._threshold_filter(at_least double precision, recall double precision, background double precision, out k integer, out s integer)
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  margin double precision[];
  exactly double precision[];
  found double precision[];
  p double precision; -- of the background
  left_over double precision;
  accepted double precision;
  equal double precision;
  total double precision;
  cost double precision;
  lowest double precision := 'infinity';
begin
  if not (at_least > 0 and at_least <= 1) then
    raise exception 'sketch: filter: threshold %, want above 0 and at most 1', at_least using errcode = 'invalid_parameter_value';
  elsif not (recall > 0 and recall < 1) then
    raise exception 'sketch: filter: recall %, want between 0 and 1', recall using errcode = 'invalid_parameter_value';
  end if;
  k := 40;
  s := 1;
  for samples in 1 .. 16 loop
    margin := alike._margin(samples, at_least);
    exactly := array_fill(1::double precision, array[11]);
    found := array_fill(0::double precision, array[11]);
    p := alike._power(background, samples);
    left_over := 1;
    accepted := 0;
    for groups in 1 .. least(40, 168 / samples) loop
      total := 0;
      for i in 1 .. 11 loop
        equal := exactly[i] * margin[i];
        if equal >= 1e-150 then
          found[i] := found[i] + equal;
        end if;
        exactly[i] := exactly[i] * (1 - margin[i]);
        if exactly[i] < 1e-150 then
          exactly[i] := 0;
        end if;
        total := total + least(found[i], 1);
      end loop;
      equal := left_over * p;
      if equal >= 1e-150 then
        accepted := accepted + equal;
      end if;
      left_over := left_over * (1 - p);
      if left_over < 1e-150 then
        left_over := 0;
      end if;
      if total / 11 >= recall then
        cost := 200 * groups::double precision + 1000000 * least(accepted, 1);
        if cost < lowest then
          lowest := cost;
          k := groups;
          s := samples;
        end if;
        exit;
      end if;
    end loop;
  end loop;
end
$$;

-- The resemblance that answers have unless asked otherwise: the threshold of the filter.
create function alike._at_least(p alike.profile_fields) returns double precision language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select alike._filter_threshold(p.k, p.s) $$;

create function alike.profiles() returns table (name text, settings text, purpose text, at_least double precision, recall double precision)
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select p.name, alike._spell(f.profile), p.purpose, t.at_least, alike._threshold_recall((f.profile).k, (f.profile).s, t.at_least)
  from alike._presets() p, lateral (select alike._parse(p.name) as profile offset 0) f, lateral (select alike._at_least(f.profile) as at_least offset 0) t
$$;
comment on function alike.profiles() is 'the presets, in their canonical spelling, with the threshold of each and the share of the pairs there and a little above that it finds';

create function alike.filter_curve(k integer, s integer, r integer) returns table (resemblance double precision, probability double precision)
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select i / 100::double precision, alike.filter(k, s, r, i / 100::double precision) from generate_series(0, 100) as i
$$;
comment on function alike.filter_curve(integer, integer, integer) is 'the filter''s probability at 101 resemblances from 0 to 1';

-- One more group: exactly[i+1] is the probability that i of the groups are
-- equal, at_least[i] that i or more are, p that one is.
create function alike._add_group(p double precision, inout exactly double precision[], inout at_least double precision[])
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  q constant double precision := 1 - p;
  equal double precision;
  differs double precision;
begin
  for i in reverse array_length(exactly, 1) .. 1 loop
    equal := exactly[i] * p;
    if equal >= 1e-150 then
      at_least[i] := at_least[i] + equal;
    end if;
    differs := exactly[i] * q;
    exactly[i] := case when differs < 1e-150 then 0 else differs end;
    if i > 1 and exactly[i - 1] * p >= 1e-150 then
      exactly[i] := exactly[i] + exactly[i - 1] * p;
    end if;
  end loop;
end
$$;

-- For one s, every r to 8 with the smallest k to 64 that finds enough, where it
-- does not accept too much.
create function alike._plan_for(s integer, resemblance double precision, miss_rate double precision, accept_below double precision, accept_rate double precision)
returns table (k integer, s_ integer, r integer, bytes integer, miss double precision, accept double precision)
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  wanted record;
  unwanted record;
  p constant double precision := alike._power(resemblance, s);
  p_unwanted constant double precision := alike._power(accept_below, s);
  met boolean[] := array_fill(false, array[8]);
begin
  select array[1, 0, 0, 0, 0, 0, 0, 0]::double precision[] as exactly, array_fill(0::double precision, array[8]) as at_least into wanted;
  unwanted := wanted;
  for groups in 1 .. 64 loop
    wanted := alike._add_group(p, wanted.exactly, wanted.at_least);
    unwanted := alike._add_group(p_unwanted, unwanted.exactly, unwanted.at_least);
    for shared in 1 .. least(groups, 8) loop
      continue when met[shared] or 1 - least(wanted.at_least[shared], 1) > miss_rate;
      met[shared] := true;
      if least(unwanted.at_least[shared], 1) <= accept_rate then
        k := groups;
        s_ := s;
        r := shared;
        bytes := 22 + 8 * k + k * s;
        miss := 1 - least(wanted.at_least[shared], 1);
        accept := least(unwanted.at_least[shared], 1);
        return next;
      end if;
    end loop;
  end loop;
end
$$;

create function alike.filter_plan(resemblance double precision, miss_rate double precision, accept_below double precision, accept_rate double precision)
returns table (k integer, s integer, r integer, bytes integer, miss double precision, accept double precision)
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
rows 100
as $$
begin
  if not (resemblance > 0 and resemblance <= 1) then
    raise exception 'sketch: plan: resemblance %, want above 0 and at most 1', resemblance using errcode = 'invalid_parameter_value';
  elsif not (accept_below >= 0 and accept_below < resemblance) then
    raise exception 'sketch: plan: accept below %, want at least 0 and less than the resemblance, %', accept_below, resemblance
      using errcode = 'invalid_parameter_value';
  elsif not (miss_rate > 0 and miss_rate < 1) then
    raise exception 'sketch: plan: miss rate %, want between 0 and 1', miss_rate using errcode = 'invalid_parameter_value';
  elsif not (accept_rate > 0 and accept_rate < 1) then
    raise exception 'sketch: plan: acceptance rate %, want between 0 and 1', accept_rate using errcode = 'invalid_parameter_value';
  end if;
  return query
    select (f).k, (f).s_, (f).r, (f).bytes, (f).miss, (f).accept from (
      select alike._plan_for(each_s, resemblance, miss_rate, accept_below, accept_rate) as f from generate_series(1, 64) as each_s
    ) as plans
    order by (f).bytes, (f).k * (f).s_, (f).k, (f).r;
end
$$;
comment on function alike.filter_plan(double precision, double precision, double precision, double precision) is
  'filters that miss at most so much at one resemblance and accept at most so much below another, the cheapest first';
