-- What two stored sketches say about two documents. The same arithmetic in the
-- same order as package sketch, so that the same bits come out.

-- Divides x into groups of the given number of bits. Sets the lowest bit of
-- a group when any of its bits was set, and clears the others. The shifts double the reach, and what
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

-- The slots of a sketch, each cut to at most the given number of bits (64: all),
-- as text; NULL for an empty bin. Cutting is FORMAT.md's: the top bits of m times
-- 0x9e3779b97f4a7c15.
create function alike._slot_values(sketch bytea, p alike.profile_fields, kept integer) returns text[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  result text[] := '{}';
  start integer := 22;
  bits bit varying;
  slot text;
begin
  if p.family = 6 then
    start := start + (p.t + 7) / 8;
  end if;
  bits := ('x' || encode(substr(sketch, start + 1), 'hex'))::bit varying;
  for i in 0 .. p.t - 1 loop
    if p.family = 6 and get_byte(sketch, 22 + i / 8) >> (7 - i % 8) & 1 = 0 then
      slot := null;
    elsif p.bits = kept then
      slot := substring(bits, i * p.bits + 1, p.bits)::text;
    elsif p.bits < 64 then
      slot := substring(bits, i * p.bits + 1, kept)::text;
    else
      slot := substring(alike._wrap(substring(bits, i * 64 + 1, 64)::bit(64)::bigint * 11400714819323198485)::bit(64), 1, kept)::text;
    end if;
    result := array_append(result, slot);
  end loop;
  return result;
end
$$;

-- A whole number modulo 2^64, as the bigint with the same bits.
create function alike._wrap(n numeric) returns bigint language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  n := mod(n, 18446744073709551616);
  if n < -9223372036854775808 then
    n := n + 18446744073709551616;
  elsif n > 9223372036854775807 then
    n := n - 18446744073709551616;
  end if;
  return n::bigint;
end
$$;

-- The values of a list, checked to ascend.
create function alike._list_values(sketch bytea) returns bytea[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  result bytea[] := array(select substr(sketch, i, 8) from generate_series(23, length(sketch) - 7, 8) as i order by i);
begin
  for i in 2 .. cardinality(result) loop
    if result[i] <= result[i - 1] then
      raise exception 'sketch: decode: value % of the list does not ascend', i - 1 using errcode = 'data_exception';
    end if;
  end loop;
  return result;
end
$$;

-- Of the values of a list, one after the other, the multiples of 2^exponent.
create function alike._coarser(list bytea, exponent integer) returns bytea language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  result bytea := '';
  mask constant bit(64) := ~((-1)::bigint::bit(64) << exponent);
begin
  for i in 1 .. length(list) by 8 loop
    if ('x' || encode(substr(list, i, 8), 'hex'))::bit(64) & mask = 0::bigint::bit(64) then
      result := result || substr(list, i, 8);
    end if;
  end loop;
  return result;
end
$$;

-- How many values two lists have in common, NULL when one of them does not ascend. From the
-- greatest down it goes through both at once. Beyond the first value substr is empty, which
-- is less than every value. A query would take three times as long for lists of 40 values; so does
-- a search path of its own for very short ones, and each caller has one.
create function alike._shared_values(x bytea, y bytea) returns integer language plpgsql immutable parallel safe
as $$
declare
  shared integer := 0;
  i integer := length(x) - 7;
begin
  for j in reverse length(y) - 7 .. 1 by 8 loop
    while substr(x, i, 8) > substr(y, j, 8) loop
      i := case when substr(x, i - 8, 8) < substr(x, i, 8) then i - 8 end;
    end loop;
    continue when substr(x, i, 8) <> substr(y, j, 8) and substr(y, j - 8, 8) < substr(y, j, 8);
    if i is null or substr(y, j - 8, 8) >= substr(y, j, 8) then
      return null;
    end if;
    shared := shared + 1;
  end loop;
  while i > 1 loop
    i := case when substr(x, i - 8, 8) < substr(x, i, 8) then i - 8 end;
  end loop;
  return case when i is not null then shared end;
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

-- The error of two sketches of different profiles, unless they differ in nothing but
-- the bits that are kept.
create function alike._differs(a bytea, b bytea, cut boolean) returns void language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p alike.profile_fields := alike._header(a);
  q alike.profile_fields := alike._header(b);
begin
  if cut then
    p.bits := q.bits;
  end if;
  if p is not distinct from q then
    return;
  end if;
  q.bits := p.bits;
  if p.tokens <> q.tokens and alike._spell(p) = alike._spell(q) then
    raise exception 'sketches of different builds: tokens % and % of "%"', lpad(to_hex(p.tokens), 4, '0'), lpad(to_hex(q.tokens), 4, '0'), alike.profile(a)
      using errcode = 'data_exception';
  end if;
  raise exception 'sketches of different profiles: "%" and "%"', alike.profile(a), alike.profile(b) using errcode = 'data_exception';
end
$$;

-- What two sketches of the family mod or scaled have in common: the values in both, and
-- those of each, at the coarser of their exponents.
create function alike._compare_lists(a bytea, b bytea, out matches integer, out in_a integer, out in_b integer)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  exponent constant integer := greatest(get_byte(a, 13), get_byte(b, 13));
  x bytea := substr(a, 23);
  y bytea := substr(b, 23);
begin
  matches := alike._shared_values(x, y);
  if matches is null then -- these say which value it is
    perform alike._list_values(a);
    perform alike._list_values(b);
  end if;
  if get_byte(a, 13) < exponent then
    x := alike._coarser(x, exponent);
    matches := alike._shared_values(x, y);
  elsif get_byte(b, 13) < exponent then
    y := alike._coarser(y, exponent);
    matches := alike._shared_values(x, y);
  end if;
  in_a := length(x) / 8;
  in_b := length(y) / 8;
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
  lists record;
begin
  if length(a) = length(b) and substr(a, 1, 22) = substr(b, 1, 22) then
    q := p;
  else
    q := alike._header(b);
    kept := p.bits;
    p.bits := q.bits;
    if p is distinct from q then
      perform alike._differs(a, b, true);
    end if;
    p.bits := kept;
  end if;
  kept := least(p.bits, q.bits);
  if not alike._slots(p.family) then
    if p.family <> 1 then -- whole lists
      lists := alike._compare_lists(a, b);
      matches := lists.matches;
      in_a := lists.in_a;
      trials := lists.in_a + lists.in_b - matches;
      chances := trials;
      return;
    end if;
    u := alike._list_values(a);
    v := alike._list_values(b);
    select count(*) filter (where ins = 3), count(*), count(*) filter (where ins & 1 = 1) into matches, trials, in_a
    from (
      select bit_or(side) as ins
      from (select unnest(u) as value, 1 as side union all select unnest(v), 2) as both_lists
      group by value
      order by value
      limit p.size
    ) as values_of_union;
    chances := trials;
    return;
  end if;
  if p.bits = q.bits and p.family <> 6 then
    matches := p.t - alike._differing(
      ('x' || encode(substr(a, 23), 'hex'))::bit varying # ('x' || encode(substr(b, 23), 'hex'))::bit varying, p.bits);
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
  if length(a) = 106 and length(b) = 106 and substr(a, 1, 22) = substr(b, 1, 22) and substr(a, 9, 2) = E'\\x0054'::bytea
     and get_byte(a, 5) = 8 and get_byte(a, 0) = 161 and get_byte(a, 1) = 1 and get_byte(a, 4) in (0, 4, 5, 7, 8, 9) then
    x := ('x' || encode(substr(a, 23), 'hex'))::bit varying # ('x' || encode(substr(b, 23), 'hex'))::bit varying;
    x := x | (x >> 4);
    x := x | (x >> 2);
    x := (x | (x >> 1)) & X'010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101010101'::bit varying;
    return greatest(0, ((84 - length(replace(x::text, '0', ''))) / 84::double precision - luck) / (1 - luck));
  end if;
  c := alike._compare(a, b);
  return case when c.trials > 0 then greatest(0, alike._resemblance(c.matches / c.trials::double precision, c.chances, c.trials, c.kept)) end;
end
$$;
comment on function alike.resemblance(bytea, bytea) is 'an estimate of |A and B| / |A or B| from two sketches, NULL when nothing was sampled of either';

create function alike.containment(a bytea, b bytea) returns double precision language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  shared integer;
  c record;
begin
  -- Equal headers of lists go without anything that can be spared.
  if substr(a, 1, 22) = substr(b, 1, 22) and substr(a, 1, 2) = E'\\xa101'::bytea and get_byte(a, 4) in (2, 3) and length(a) % 8 = 6 and length(b) % 8 = 6 and length(a) > 22
     and (get_byte(a, 4) = 2 or greatest(length(a), length(b)) <= 822) then
    shared := alike._shared_values(substr(a, 23), substr(b, 23));
    if shared is not null then
      return shared / ((length(a) - 22) / 8)::double precision;
    end if;
  end if;
  c := alike._compare(a, b);
  if get_byte(a, 4) not in (2, 3) then
    raise exception 'sketch: containment needs the family mod or scaled, this sketch is "%"', alike.profile(a) using errcode = 'data_exception';
  end if;
  return case when c.in_a > 0 then c.matches / c.in_a::double precision end;
end
$$;
comment on function alike.containment(bytea, bytea) is 'an estimate of |A and B| / |A|, how much of a is in b, NULL when nothing was sampled of a; needs the family mod or scaled';

-- PostgreSQL 14 counts the bits of a string itself.
do $$
declare
  counts regprocedure;
begin
  if current_setting('server_version_num')::integer >= 140000 then
    foreach counts in array array['alike._differing(bit varying, integer)', 'alike.resemblance(bytea, bytea)']::regprocedure[] loop
      execute replace(pg_get_functiondef(counts), 'length(replace(x::text, ''0'', ''''))', 'bit_count(x)');
    end loop;
  end if;
end
$$;
