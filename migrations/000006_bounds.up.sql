-- How far an estimate may be from the truth: the Clopper-Pearson interval.

-- Confidence limits that questions ask for again and again, computed once.
create table alike.lower_bound (
  trials integer not null,
  matches integer not null,
  lower double precision not null,
  constraint lower_bound_pkey primary key (trials, matches)
);
comment on table alike.lower_bound is 'lower ends of the 95 % Clopper-Pearson interval';

-- The binomial distribution: first to last matches of n, each with probability p between
-- 0 and 1. The terms are relative to the largest, so that none underflows.
create function alike._binomial(n integer, first integer, last integer, p double precision) returns double precision
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  up double precision := p / (1 - p);
  down double precision := (1 - p) / p;
  mode integer := least(floor((n + 1)::double precision * p)::integer, n);
  total double precision := 1;
  part double precision := case when mode between first and last then 1 else 0 end;
  w double precision := 1;
begin
  for k in mode .. n - 1 loop
    w := w * (n - k)::double precision / (k + 1)::double precision * up;
    exit when w < 1e-100;
    total := total + w;
    if k + 1 between first and last then
      part := part + w;
    end if;
  end loop;
  w := 1;
  for k in reverse mode .. 1 loop
    w := w * k::double precision / (n - k + 1)::double precision * down;
    exit when w < 1e-100;
    total := total + w;
    if k - 1 between first and last then
      part := part + w;
    end if;
  end loop;
  return part / total;
end
$$;

-- Where m matches or more of n are as probable as half of what the confidence leaves: Newton's
-- method, in the order of sketch/estimate_interval.go, for the same bits.
create function alike._binomial_lower(n integer, m integer, confidence double precision) returns double precision
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  alpha double precision := (1 - confidence) * 0.5::double precision;
  p double precision := case m when 0 then 0 when n then (n - 0.5::double precision) / n when 1 then alpha / n
    else (m - 1)::double precision / (n - 1) end;
  up double precision;
  down double precision;
  above double precision;
  below double precision;
  w double precision;
  step double precision;
begin
  if m = 0 then
    return 0;
  end if;
  for i in 1 .. 200 loop
    up := p / (1 - p);
    down := (1 - p) / p;
    above := 1;
    w := 1;
    for k in m .. n - 1 loop
      w := w * (n - k) / (k + 1) * up;
      exit when w < above * 1e-17::double precision;
      above := above + w;
    end loop;
    below := 0;
    w := 1;
    for k in reverse m .. 1 loop
      w := w * k / (n - k + 1) * down;
      exit when w < below * 1e-17::double precision;
      below := below + w;
    end loop;
    step := (above - (above + below) * alpha) * p / m;
    p := p - step;
    exit when abs(step) < p * 1e-12::double precision;
  end loop;
  return p;
end
$$;

create function alike.within(samples integer, resemblance double precision, epsilon double precision) returns double precision
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  first double precision;
  last double precision;
begin
  if samples not between 1 and 1000000 then
    raise exception '% samples, want 1 to 1000000', samples using errcode = 'invalid_parameter_value';
  elsif not (resemblance >= 0 and resemblance <= 1) then
    raise exception 'the resemblance is %, want a number from 0 to 1', resemblance using errcode = 'invalid_parameter_value';
  elsif not (epsilon >= 0 and epsilon <= 1) then
    raise exception 'epsilon is %, want a number from 0 to 1', epsilon using errcode = 'invalid_parameter_value';
  end if;
  first := greatest(ceil(samples::double precision * (resemblance - epsilon) - 1e-9::double precision), 0);
  last := least(floor(samples::double precision * (resemblance + epsilon) + 1e-9::double precision), samples);
  if first > last then
    return 0;
  elsif resemblance in (0, 1) then
    return case when resemblance * samples between first and last then 1 else 0 end;
  end if;
  return alike._binomial(samples, first::integer, last::integer, resemblance);
end
$$;
comment on function alike.within(integer, double precision, double precision) is
  'the probability that an estimate from this number of samples lies within epsilon of the resemblance (Broder 1997, section 4.2)';

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

-- Keeps the limits for sketches of t slots. It runs as its owner: everybody's answers are
-- looked up in this read-only table.
create function alike._keep_bounds(t integer) returns void language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into alike.lower_bound (trials, matches, lower)
  select t, m, alike._binomial_lower(t, m, 0.95) from generate_series(0, t) as m
  where t between 1 and 256 and not exists (select from alike.lower_bound where trials = t)
  on conflict do nothing
$$;

-- A subquery that turns v.resemblance back into matches of t slots and looks
-- their interval up: the same numbers as _bounds, without comparing again. OFFSET
-- keeps it below the pairs: with the intervals first, all pairs were computed anew
-- for each of them.
create function alike._bounds_of_slots(t integer, bits integer) returns text language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format(
    '(select %s as low, %s as high from alike.lower_bound l join alike.lower_bound h on h.trials = %s and h.matches = %s - l.matches
      where l.trials = %s and l.matches = case when v.resemblance = 0 then (alike._compare(v.sketch, v.other_sketch)).matches else %s end
      offset 0)',
    case when bits = 64 then 'l.lower' else format('least(1, greatest(0, (l.lower - %s::double precision) / (1 - %s::double precision)))', luck, luck) end,
    case when bits = 64 then '1 - h.lower' else format('least(1, greatest(0, (1 - h.lower - %s::double precision) / (1 - %s::double precision)))', luck, luck) end,
    t, t, t,
    case when bits = 64 then format('round(v.resemblance * %s)::integer', t)
         else format('round((v.resemblance * (1 - %s::double precision) + %s::double precision) * %s)::integer', luck, luck, t) end)
  from (select case when bits < 64 then 1::double precision / (1::bigint << bits) end as luck) as l
$$;
