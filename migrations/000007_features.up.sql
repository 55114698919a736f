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
  start integer := 22;
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
      empty := get_byte(sketch, 22 + (g * p.s + i) / 8) >> (7 - (g * p.s + i) % 8) & 1 = 0;
    end loop;
    if empty then
      result := array_append(result, null);
      continue;
    end if;
    for i in 0 .. p.s - 1 loop
      at := g * p.s + i;
      for byte in 0 .. 7 loop
        h := (h << 8) # residue[(h >> 56 & 255) + 1]
          # case when p.family = 6 and get_byte(sketch, 22 + at / 8) >> (7 - at % 8) & 1 = 0 then 255
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
