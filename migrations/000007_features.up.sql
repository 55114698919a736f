-- What is made of whole minima: features (Broder 2000, section 3), superfeatures,
-- and the sketch of a union. A number of 64 bits is a bigint here, whatever its
-- highest bit, and -1 is a slot that nothing was counted into.

-- Multiplication by t^64 modulo a polynomial of degree 64, a byte of the other factor
-- at a time: entry 256·j + v + 1 is v·t^(8j)·t^64.
create function alike._residues(polynomial bigint) returns bigint[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  result bigint[] := '{}';
  column_of bigint[];
  power bigint := polynomial;
begin
  for j in 0 .. 7 loop
    column_of := '{0}';
    for i in 0 .. 7 loop
      column_of := column_of || array(select c # power from unnest(column_of) with ordinality as u(c, n) order by n);
      power := (power << 1) # case when power < 0 then polynomial else 0 end;
    end loop;
    result := result || column_of;
  end loop;
  return result;
end
$$;

-- Rabin's fingerprint of words behind a first number, padded by a null word. The
-- polynomials are those of FORMAT.md: of shingles (1), features (2) and labels (3).
-- PostgreSQL computes their tables once in a session: they are constants of the plan.
create function alike._fingerprint(polynomial integer, h bigint, words bigint[]) returns bigint language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  r constant bigint[] := case polynomial
    when 1 then alike._residues(x'0b984afd41eed93b'::bigint)
    when 2 then alike._residues(x'f6e1b0942d071963'::bigint)
    else alike._residues(x'bcad7e660a47e721'::bigint) end;
  word bigint;
begin
  foreach word in array words || 0::bigint loop
    h := r[(h & 255) + 1] # r[(h >> 8 & 255) + 257] # r[(h >> 16 & 255) + 513] # r[(h >> 24 & 255) + 769]
      # r[(h >> 32 & 255) + 1025] # r[(h >> 40 & 255) + 1281] # r[(h >> 48 & 255) + 1537] # r[(h >> 56 & 255) + 1793] # word;
  end loop;
  return h;
end
$$;

-- The constants a and b of linear permutations, numbered from 1: splitmix64 from the seed 2000.
create function alike._permutations(first integer, last integer) returns table (slot integer, a bigint, b bigint) language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  z bigint;
begin
  for n in 2 * first - 1 .. 2 * last loop
    z := alike._wrap(2000 + n * 11400714819323198485);
    z := alike._wrap((z # (z >> 30 & 17179869183)) * 13787848793156543929);
    z := alike._wrap((z # (z >> 27 & 137438953471)) * 10723151780598845931);
    z := z # (z >> 31 & 8589934591);
    if n % 2 = 1 then
      a := z | 1;
    else
      slot := n / 2;
      b := z;
      return next;
    end if;
  end loop;
end
$$;

-- Numbers from the bytes that they are stored in.
create function alike._numbers(list bytea[]) returns bigint[] language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select array(select ('x' || encode(v, 'hex'))::bit(64)::bigint from unnest(list) with ordinality as u(v, i) order by i) $$;

-- The minimum of each of t permutations over some numbers (Broder 2000, section 2).
-- Flipped highest bits make the signed order that of numbers without a sign.
create function alike._minima(xs bigint[], t integer) returns bigint[] language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(coalesce(m, -1) order by slot)
  from alike._permutations(1, t) p
  cross join lateral (
    select min(alike._wrap(p.a::numeric * x + p.b) # (-9223372036854775808)) # (-9223372036854775808) as m from unnest(xs) as x
  ) minimum
$$;

-- The slots of a sketch that must have whole minima. A list has slots too: the
-- classic minima over its values.
create function alike._whole(sketch bytea, purpose text) returns bigint[] language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p constant alike.profile_fields := alike._header(sketch);
  start integer := 22;
begin
  if not alike._slots(p.family) then
    return alike._minima(alike._numbers(alike._list_values(sketch)), p.t);
  elsif p.bits <> 64 then
    raise exception 'sketch: % needs whole minima, this sketch keeps % bits of each', purpose, p.bits using errcode = 'data_exception';
  elsif p.family = 6 then
    start := start + (p.t + 7) / 8;
  end if;
  return array(
    select case when p.family = 6 and get_byte(sketch, 22 + i / 8) >> (7 - i % 8) & 1 = 0 then -1
                else ('x' || encode(substr(sketch, start + 8 * i + 1, 8), 'hex'))::bit(64)::bigint end
    from generate_series(0, p.t - 1) as i order by i);
end
$$;

-- The feature of a group, NULL of empty slots. The group's number comes first.
create function alike._feature_of(slots bigint[], s integer, feature_slot integer) returns bigint language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case when -1 <> any (g) then alike._fingerprint(2, feature_slot, g) end
  from (select slots[s * (feature_slot - 1) + 1 : s * feature_slot] as g) as grouped
$$;

-- All k of them.
create function alike._features(sketch bytea) returns bigint[] language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p constant alike.profile_fields := alike._header(sketch);
  slots constant bigint[] := alike._whole(sketch, 'features');
begin
  return array(select alike._feature_of(slots, p.s, i) from generate_series(1, p.k) as i order by i);
end
$$;

create function alike.features(sketch bytea) returns table (slot integer, feature bigint) language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
rows 30
as $$ select n::integer, f from unnest(alike._features(sketch)) with ordinality as u(f, n) where f is not null order by n $$;
comment on function alike.features(bytea) is 'the features of a sketch that keeps whole minima, numbered from 1';

create function alike.feature(sketch bytea, slot integer) returns bigint language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p constant alike.profile_fields := alike._header(sketch);
  slots constant bigint[] := alike._whole(sketch, 'features');
begin
  if slot not between 1 and p.k then
    raise exception 'slot %, want 1 to %', slot, p.k using errcode = 'invalid_parameter_value';
  end if;
  return alike._feature_of(slots, p.s, slot);
end
$$;
comment on function alike.feature(bytea, integer) is 'one feature of a sketch that keeps whole minima; NULL where the family bins has none';

-- The superfeatures from one number to another, of 1 to C(k,r). A superfeature is a
-- fingerprint of r features: the combinations are counted in their order.
create function alike._superfeatures(sketch bytea, first integer, last integer) returns table (slot integer, feature bigint)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p constant alike.profile_fields := alike._header(sketch);
  features bigint[];
  chosen integer[] := array(select generate_series(1, p.r));
  given bigint[];
  count_of numeric := 1;
begin
  for i in 0 .. least(p.r, p.k - p.r) - 1 loop
    count_of := div(count_of * (p.k - i), i + 1);
    exit when count_of > 1099511627776; -- above any limit of ours
  end loop;
  if count_of > 10000 then
    raise exception 'sketch: superfeatures: k=% r=% has % of them, want at most 10000', p.k, p.r, least(count_of, 1099511627776)
      using errcode = 'data_exception';
  end if;
  perform alike._whole(sketch, 'superfeatures');
  if first <> 1 and first not between 1 and count_of then
    raise exception 'slot %, want 1 to %', first, count_of using errcode = 'invalid_parameter_value';
  end if;
  features := alike._features(sketch);
  slot := 1;
  loop
    if slot >= first then
      given := array(select features[c] from unnest(chosen) as c);
      if array_position(given, null) is null then
        feature := alike._fingerprint(2, slot, given);
        return next;
      end if;
    end if;
    exit when slot = coalesce(last, count_of);
    -- The next combination: the last place that can move on does, and the
    -- places behind it follow.
    for i in reverse p.r .. 1 loop
      if chosen[i] < p.k - p.r + i then
        chosen := chosen[1:i - 1] || array(select chosen[i] + j from generate_series(1, p.r - i + 1) as j);
        exit;
      end if;
    end loop;
    slot := slot + 1;
  end loop;
end
$$;

create function alike.superfeatures(sketch bytea) returns table (slot integer, feature bigint) language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
rows 100
as $$ select * from alike._superfeatures(sketch, 1, null) $$;
comment on function alike.superfeatures(bytea) is 'a fingerprint of every r features of a sketch that keeps whole minima, numbered from 1: one in common means r features in common';

create function alike.superfeature(sketch bytea, slot integer) returns bigint language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$ select feature from alike._superfeatures(sketch, slot, slot) $$;
comment on function alike.superfeature(bytea, integer) is 'one superfeature of a sketch that keeps whole minima, for a column of one''s own';

create function alike.shared(a bytea, b bytea) returns integer language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p constant alike.profile_fields := alike._header(a);
  x bigint[];
  y bigint[];
begin
  if length(a) <> length(b) or substr(a, 1, 22) <> substr(b, 1, 22) then
    perform alike._differs(a, b, true);
  end if;
  x := alike._whole(a, 'shared');
  y := alike._whole(b, 'shared');
  return (
    select count(*) from generate_series(0, p.k - 1) as g
    where x[g * p.s + 1 : (g + 1) * p.s] = y[g * p.s + 1 : (g + 1) * p.s] and -1 <> any (x[g * p.s + 1 : (g + 1) * p.s]));
end
$$;
comment on function alike.shared(bytea, bytea) is 'how many features two sketches have in common that keep whole minima';

create function alike.alike(a bytea, b bytea) returns boolean language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return alike.shared(a, b) >= get_byte(a, 12);
end
$$;
comment on function alike.alike(bytea, bytea) is 'whether two sketches share at least r features: the rule of Broder 2000';

-- The header of a stored sketch.
create function alike._head(p alike.profile_fields, exponent integer) returns bytea language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  flags constant boolean[] := array[p.other_case, p.stop_words, p.vowels, p.duplicates, p.bag, p.numbers, p.ids, p.dates];
  result bytea := E'\\xa1010000000000000000000000000000000000000000';
begin
  result := set_byte(set_byte(set_byte(set_byte(result, 2, p.stream), 4, p.family), 5, p.bits), 13, exponent);
  for i in 1 .. 8 loop
    result := set_bit(result, 8 * 3 + i - 1, flags[i]::integer);
  end loop;
  result := set_byte(set_byte(set_byte(result, 10, p.k), 11, p.s), 12, p.r);
  result := overlay(result placing substr(int4send(p.w), 3) from 7);
  result := overlay(result placing substr(int4send(p.t), 3) from 9);
  result := overlay(result placing substr(int4send(p.size), 3) from 15);
  result := overlay(result placing substr(int8send(p.modulus + p.without), 5) from 17); -- one of them is 0
  return overlay(result placing substr(int4send(p.tokens), 3) from 21);
end
$$;

-- The stored form of a sample: slots, each cut to the bits of the profile, or the values
-- of a list, from which the values in it are taken as they are.
create function alike._encode(p alike.profile_fields, exponent integer, kept bigint[]) returns bytea language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  result bytea := alike._head(p, exponent);
  packed text;
begin
  if p.family = 6 then
    -- One bit a bin says whether it is filled; an empty bin keeps zeros.
    packed := (select string_agg(case when m = -1 then '0' else '1' end, '' order by i) from unnest(kept) with ordinality as u(m, i));
    result := result || alike._packed(packed);
  end if;
  if p.bits = 64 then
    return result || coalesce((select string_agg(int8send(case when m = -1 and p.family = 6 then 0 else m end), '' order by i) from unnest(kept) with ordinality as u(m, i)), '');
  end if;
  packed := (select string_agg(
      substring(case when m = -1 and p.family = 6 then 0::bigint else alike._wrap(m * 11400714819323198485) end::bit(64), 1, p.bits)::text, '' order by i)
    from unnest(kept) with ordinality as u(m, i));
  return result || alike._packed(packed);
end
$$;

-- Bits, written as text, in bytes of which the last one is filled with zeros.
create function alike._packed(bits text) returns bytea language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select decode(string_agg(lpad(to_hex(rpad(substr(bits, 8 * i + 1, 8), 8, '0')::bit(8)::integer), 2, '0'), '' order by i), 'hex')
  from generate_series(0, (length(bits) - 1) / 8) as i
$$;

-- The values of a list that are kept: all of them, the smallest, or those at the least
-- exponent that leaves at most 100. They are bytes, whose order is theirs.
create function alike._kept(p alike.profile_fields, inout exponent integer, inout list bytea[]) language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  loop
    list := array(
      select distinct v from unnest(list) as v
      where exponent = 0 or ('x' || encode(v, 'hex'))::bit(64) & ~((-1)::bigint::bit(64) << exponent) = 0::bigint::bit(64)
      order by v limit case when p.family = 1 then p.size end);
    exit when p.family <> 3 or cardinality(list) <= 100;
    exponent := exponent + 1;
  end loop;
end
$$;

-- The sketch of the union of two sketches, or of one.
create function alike._merge(a bytea, b bytea) returns bytea language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p alike.profile_fields;
  x bigint[];
  y bigint[];
  list record;
begin
  if b is null then
    return a;
  end if;
  p := alike._header(b);
  if a is not null and substr(a, 1, 22) <> substr(b, 1, 22) then
    perform alike._differs(a, b, false);
  end if;
  if alike._slots(p.family) then
    y := alike._whole(b, 'merge');
    if a is not null then
      x := alike._whole(a, 'merge');
      y := array(
        select least(u.x # (-9223372036854775808), u.y # (-9223372036854775808)) # (-9223372036854775808)
        from unnest(x, y) with ordinality as u(x, y, i) order by i);
    end if;
    return alike._encode(p, 0, y);
  end if;
  list := alike._kept(p, greatest(get_byte(b, 13), case when a is not null then get_byte(a, 13) end),
    case when a is not null then alike._list_values(a) else '{}' end || alike._list_values(b));
  return alike._encode(p, list.exponent, alike._numbers(list.list));
end
$$;

create aggregate alike.merge(sketch bytea) (sfunc = alike._merge, stype = bytea, combinefunc = alike._merge, parallel = safe);
comment on aggregate alike.merge(bytea) is 'the sketch of the union, of sketches that keep whole minima';
