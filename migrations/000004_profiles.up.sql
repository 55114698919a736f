-- Profiles: the header of a stored sketch, the canonical spelling, and the
-- settings that a person writes. FORMAT.md of package sketch specifies both.

create type alike.profile_fields as (
  stream smallint, other_case boolean, stop_words boolean, vowels boolean, duplicates boolean, bag boolean,
  numbers boolean, ids boolean, dates boolean,
  family smallint, bits integer, w integer, t integer, k integer, s integer, r integer, size integer, modulus bigint,
  tokens integer, -- of a stored sketch: the fingerprint of the tokens that its build makes
  without bigint -- the list of shingles that are left out, 0 for none
);

create function alike._streams() returns text[] language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select array['chars', 'words', 'lines', 'soundex', 'html', 'code', 'elements', 'page'] $$;

create function alike._families() returns text[] language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select array['classic', 'bottom', 'mod', 'scaled', 'fast', 'lean', 'bins', 'weighted', 'lean-zeros', 'lean-biased'] $$;

-- Whether the stream folds case unless the profile says otherwise.
create function alike._folds(stream integer) returns boolean language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select stream not in (2, 5, 6) $$;

-- Whether a family keeps slots rather than a list of values.
create function alike._slots(family integer) returns boolean language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select family not in (1, 2, 3) $$;

-- The first setting that is out of its limits, or NULL.
create function alike._invalid(p alike.profile_fields) returns text language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  family text;
begin
  if p.stream not between 0 and 7 then
    return format('stream %s, want 0 to 7', p.stream);
  elsif p.family not between 0 and 9 then
    return format('family %s, want 0 to 9', p.family);
  elsif p.w not between 1 and 1024 then
    return format('w=%s, want 1 to 1024', p.w);
  elsif p.k not between 1 and 64 then
    return format('k=%s, want 1 to 64', p.k);
  elsif p.s not between 1 and 255 then
    return format('s=%s, want 1 to 255', p.s);
  elsif p.t not between 1 and 4096 then
    return format('t=%s, want 1 to 4096', p.t);
  elsif p.r not between 1 and p.k then
    return format('r=%s, want 1 to %s', p.r, p.k);
  elsif p.t < p.k * p.s then
    return format('t=%s, want at least k·s = %s', p.t, p.k * p.s);
  end if;
  family := (alike._families())[p.family + 1];
  if p.bits not in (1, 2, 4, 8, 64) then
    return format('bits=%s, want 1, 2, 4, 8 or 64', p.bits);
  elsif p.bits <> 64 and not alike._slots(p.family) then
    return format('bits=%s: the family %s has no slots to cut', p.bits, family);
  elsif family = 'weighted' and p.bag then
    return 'bag: the family weighted counts occurrences by itself';
  elsif family = 'bottom' and p.size not between 1 and 65535 then
    return format('bottom=%s, want 1 to 65535', p.size);
  elsif family = 'mod' and p.modulus not between 1 and 2147483647
     or family = 'bottom' and p.modulus not between 0 and 2147483647 then
    return format('mod=%s, want 1 to 2147483647', p.modulus);
  elsif p.without <> 0 and family in ('bottom', 'mod') then
    return format('without=%s: the family %s leaves no shingles out', lpad(to_hex(p.without), 8, '0'), family);
  elsif family <> 'bottom' and p.size <> 0 or family not in ('bottom', 'mod') and p.modulus <> 0 then
    return format('the family %s takes no bottom or mod', family);
  end if;
  return null;
end
$$;

create function alike._spell(p alike.profile_fields) returns text language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select concat_ws(' ',
    (alike._streams())[p.stream + 1],
    case when p.other_case then case when alike._folds(p.stream) then 'case' else 'fold' end end,
    case when p.stop_words then 'stop' end,
    case when p.vowels then 'vowels' end,
    case when p.duplicates then 'duplicates' end,
    case when p.numbers then 'numbers' end,
    case when p.ids then 'ids' end,
    case when p.dates then 'dates' end,
    'w=' || p.w,
    case when p.bag then 'bag' else 'set' end,
    case
      when p.family = 1 then concat_ws(' ', 'bottom=' || p.size, case when p.modulus <> 0 then 'mod=' || p.modulus end)
      when p.family = 2 then 'mod=' || p.modulus
      else (alike._families())[p.family + 1]
    end,
    't=' || p.t, 'k=' || p.k, 's=' || p.s, 'r=' || p.r,
    case when p.bits <> 64 then 'bits=' || p.bits end,
    case when p.without <> 0 then 'without=' || lpad(to_hex(p.without), 8, '0') end)
$$;

-- Reads and checks the header and the length of a stored sketch.
create function alike._header(sketch bytea) returns alike.profile_fields language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p alike.profile_fields;
  n integer := length(sketch);
  flags integer;
  exponent integer;
  wanted integer;
  invalid text;
begin
  if n < 22 then
    raise exception 'sketch: decode: % bytes, want at least 22', n using errcode = 'data_exception';
  elsif get_byte(sketch, 0) <> 161 then
    raise exception 'sketch: decode: first byte 0x%, want 0xa1: not a sketch', lpad(to_hex(get_byte(sketch, 0)), 2, '0')
      using errcode = 'data_exception';
  elsif get_byte(sketch, 1) <> 1 then
    raise exception 'sketch: decode: version %, this build reads 1', get_byte(sketch, 1) using errcode = 'data_exception';
  end if;
  flags := get_byte(sketch, 3);
  p.stream := get_byte(sketch, 2);
  p.other_case := flags & 1 <> 0;
  p.stop_words := flags & 2 <> 0;
  p.vowels := flags & 4 <> 0;
  p.duplicates := flags & 8 <> 0;
  p.bag := flags & 16 <> 0;
  p.numbers := flags & 32 <> 0;
  p.ids := flags & 64 <> 0;
  p.dates := flags & 128 <> 0;
  p.family := get_byte(sketch, 4);
  p.bits := get_byte(sketch, 5);
  p.w := get_byte(sketch, 6) << 8 | get_byte(sketch, 7);
  p.t := get_byte(sketch, 8) << 8 | get_byte(sketch, 9);
  p.k := get_byte(sketch, 10);
  p.s := get_byte(sketch, 11);
  p.r := get_byte(sketch, 12);
  exponent := get_byte(sketch, 13);
  p.size := get_byte(sketch, 14) << 8 | get_byte(sketch, 15);
  p.modulus := get_byte(sketch, 16)::bigint << 8 | get_byte(sketch, 17) << 8 | get_byte(sketch, 18) << 8 | get_byte(sketch, 19);
  p.without := 0;
  if p.family not in (1, 2) then
    p.without := p.modulus;
    p.modulus := 0;
  end if;
  p.tokens := get_byte(sketch, 20) << 8 | get_byte(sketch, 21);
  invalid := alike._invalid(p);
  if invalid is not null then
    raise exception 'sketch: decode: %', invalid using errcode = 'data_exception';
  elsif exponent > 63 or exponent <> 0 and p.family <> 3 then
    raise exception 'sketch: decode: exponent % in a sketch of the family %', exponent, (alike._families())[p.family + 1]
      using errcode = 'data_exception';
  end if;
  if (p.tokens = 0) <> (p.stream = 6) then
    raise exception 'sketch: decode: tokens % under the stream %', lpad(to_hex(p.tokens), 4, '0'), (alike._streams())[p.stream + 1]
      using errcode = 'data_exception';
  end if;
  n := n - 22;
  if alike._slots(p.family) then
    wanted := (p.t * p.bits + 7) / 8 + case when p.family = 6 then (p.t + 7) / 8 else 0 end;
    if n <> wanted then
      raise exception 'sketch: decode: % bytes after the header, want %', n, wanted using errcode = 'data_exception';
    end if;
  elsif n % 8 <> 0 then
    raise exception 'sketch: decode: % bytes of values, want a multiple of 8', n using errcode = 'data_exception';
  elsif n = 0 and p.family = 1 and p.modulus = 0 then
    raise exception 'sketch: decode: no values' using errcode = 'data_exception';
  elsif p.family = 1 and n / 8 > p.size or p.family = 3 and n / 8 > 100 then
    raise exception 'sketch: decode: % values, want at most %', n / 8, case p.family when 1 then p.size else 100 end
      using errcode = 'data_exception';
  end if;
  return p;
end
$$;

create function alike.profile(sketch bytea) returns text language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return alike._spell(alike._header(sketch));
end
$$;
comment on function alike.profile(bytea) is 'the canonical spelling of the profile that a sketch was made under';

-- The presets, the first of which is the default. background is how much unrelated rows
-- resemble; 0 in the presets of papers, whose filter is theirs.
create function alike._presets() returns table (name text, settings text, purpose text, background double precision) language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  values ('prose', 'words', 'articles, reports, chapters', 0.1::double precision),
         ('paragraphs', 'chars w=5', 'descriptions, reviews, mail, scanned text', 0.1),
         ('short', 'chars', 'titles, addresses, messages, verses', 0.1),
         ('names', 'chars w=2 k=31 s=4', 'names and other texts of a few words', 0.1),
         ('unsegmented', 'chars k=24 s=3', 'Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese, short Arabic', 0.1),
         ('sequences', 'chars w=11 k=24 s=3', 'DNA, RNA, long numbers', 0.1),
         ('pages', 'page k=27 s=5', 'HTML', 0.3),
         ('code', 'code k=34 s=4', 'source code', 0.1),
         ('logs', 'chars k=27 s=5', 'log lines', 0.3),
         ('records', 'chars k=31 s=5', 'JSON, XML and other records with the same keys', 0.3),
         ('web', 'html t=84 k=6 s=14', 'pages and their links; the filter of Broder 2000', 0),
         ('bing', 'words w=4 t=30 k=6 s=5 r=4', 'the smaller filter that Manasse describes', 0)
$$;

-- Settings in words, in lower case.
create function alike._words(settings text) returns text[] language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select array_remove(regexp_split_to_array(lower(btrim(settings, E' \t\r\n')), E'\\s+'), '') $$;

-- The preset that settings build on, how much unrelated rows resemble under it, and
-- whether they leave its filter to be chosen: they do where they give neither k nor s,
-- and the preset is not of a paper.
create function alike._preset_of(settings text, out preset text, out background double precision, out follows boolean) language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select p.name, p.background, p.background > 0 and not exists (select from unnest(w.words) as word where word ~ '^[ks]=')
  from (select alike._words(settings) as words) w, alike._presets() p
  where p.name in (w.words[1], 'prose')
  order by p.name = 'prose', p.name
  limit 1
$$;

-- Chooses the preset for texts from a sample of them, says why, and how many texts it
-- found. The rule is that of LookThrough in package sketch, whose comment tells it.
create function alike._look(texts text[], out preset text, out reason text, out looked integer) language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  unspaced constant text := E'[\\u0E00-\\u0EFF\\u1000-\\u11FF\\u1780-\\u17FF\\u3040-\\u318F\\u31F0-\\u31FF\\u3400-\\u4DBF\\u4E00-\\u9FFF\\uAC00-\\uD7AF\\uF900-\\uFAFF\\U00020000-\\U0003FFFF]+';
  semitic constant text := E'[\\u0590-\\u05FF\\uFB1D-\\uFB4F\\u0600-\\u06FF\\u0750-\\u077F\\u0870-\\u08FF\\uFB50-\\uFDFF\\uFE70-\\uFEFE]+';
  r record;
  half integer;
begin
  select count(*)::integer as n, count(*) filter (where kind = 'pages') as pages, count(*) filter (where kind = 'records') as records,
    count(*) filter (where kind = 'logs') as logs, count(*) filter (where kind = 'code') as code,
    sum(length(text) - length(regexp_replace(text, unspaced, '', 'g'))) as unspaced,
    sum(length(text) - length(regexp_replace(text, semitic, '', 'g'))) as semitic,
    sum(length(regexp_replace(text, E'[\\x01-\\x20]+', '', 'g'))) as visible,
    sum(length(regexp_replace(text, '[^0-9]+', '', 'g'))) as digits,
    sum(length(regexp_replace(text, E'[\\x01-\\x20]*[^\\x01-\\x20]+', 'x', 'g')) - length(substring(text from E'[\\x01-\\x20]*$'))) as words,
    sum(length(regexp_replace(text, E'[\\u0001-\\u00200-9acgntuACGNTU]+', '', 'g'))) as coded,
    (array_agg(length(text) order by length(text)))[count(*) / 2 + 1] as median
  into r
  from (
    select t.text, case
      when left(t.text, 1) = '<' and length(t.text) - length(replace(t.text, '</', '')) >= 4 then
        case when t.text ~* E'<(!doctype html|html|body|div|table|a href|p|br|ul|ol|h[1-6])[ \t\r\n/>=]' then 'pages' else 'records' end
      when left(t.text, 1) in ('{', '[') and position('":' in t.text) > 0 then 'records'
      when position(E'\n' in t.text) = 0 and t.text ~ '[0-9][0-9]:[0-9][0-9]' then 'logs'
      when (select count(*) filter (where ends) >= 3 and 3 * count(*) filter (where ends) >= count(*)
            from (select right(l, 1) in (';', '{', '}', ')', ':') or l ~ '^#(define|include|if|endif)' as ends
                  from (select rtrim(line, E' \t\r') as l from unnest(string_to_array(t.text, E'\n')) as line) trimmed where l <> '') lines) then 'code'
    end as kind
    from (select btrim(left(e, 4000), E' \t\r\n\f\x0b') collate "C" as text from unnest(texts) as e) t
    where t.text <> ''
  ) kinds;
  looked := r.n;
  half := (r.n + 1) / 2;
  case
    when r.n = 0 then
      preset := 'prose';
      reason := 'there is no text to look at yet';
    when r.pages >= half then
      preset := 'pages';
      reason := format('%s of the texts looked at (%s) are HTML', r.pages, r.n);
    when r.records >= half then
      preset := 'records';
      reason := format('%s of the texts looked at (%s) are JSON or XML', r.records, r.n);
    when r.logs >= half and r.median <= 500 then
      preset := 'logs';
      reason := format('%s of the texts looked at (%s) are single lines with a time', r.logs, r.n);
    when r.code >= half then
      preset := 'code';
      reason := format('%s of the texts looked at (%s) look like source code', r.code, r.n);
    when r.median < 250 and r.semitic > 0 and 5 * r.semitic >= r.visible then
      preset := 'unsegmented';
      reason := format('the texts are short and %s %% of the characters are Arabic or Hebrew', 100 * r.semitic / r.visible);
    when r.median < 30 and 2 * r.digits < r.visible then
      preset := 'names';
      reason := format('the median length of the texts looked at (%s) is %s characters, less than 30', r.n, r.median);
    when r.unspaced > 0 and 5 * r.unspaced >= r.visible then
      preset := 'unsegmented';
      reason := format('%s %% of the characters are of scripts whose words blanks do not tell apart', 100 * r.unspaced / r.visible);
    when r.visible >= 40 * r.words then
      preset := case when 10 * r.coded >= r.visible then 'short' else 'sequences' end;
      reason := format('the words have %s characters on average', r.visible / greatest(1, r.words));
    when r.median < 250 then
      preset := 'short';
      reason := format('the median length of the texts looked at (%s) is %s characters, less than 250', r.n, r.median);
    else
      preset := case when r.median < 2000 then 'paragraphs' else 'prose' end;
      reason := format('the median length of the texts looked at (%s) is %s characters, %s', r.n, r.median, case when r.median < 2000 then 'less than 2000' else 'at least 2000' end);
  end case;
end
$$;

-- Reads settings such as 'prose w=3 bag'. A preset or a stream comes first, and
-- what is not said is as in the preset prose.
create function alike._parse(settings text) returns alike.profile_fields language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  p alike.profile_fields := row(1, false, false, false, false, false, false, false, false, 4, 64, 2, 168, 23, 4, 2, 0, 0, 0, 0);
  words text[] := alike._words(settings);
  base text[];
  part text[];
  given_t boolean;
  word text;
  place integer;
  number bigint;
  invalid text;
begin
  select string_to_array(preset.settings, ' ') into base from alike._presets() preset where preset.name = words[1];
  if found then
    words := words[2:];
  end if;
  foreach part slice 1 in array array[array['base'], array['words']] loop
    given_t := false;
    foreach word in array coalesce(case part[1] when 'base' then base else words end, '{}') loop
      place := array_position(alike._streams(), word);
      if place is not null then
        p.stream := place - 1;
        p.w := (array[3, 2, 1, 2, 6, 2, 1, 2])[place];
        p.other_case := false;
        continue;
      end if;
      place := array_position(alike._families(), word);
      if place is not null and word not in ('bottom', 'mod') then
        p.family := place - 1;
        p.size := 0;
        p.modulus := 0;
        continue;
      end if;
      if word ~ '^without=' then
        if word !~ '^without=[0-9a-f]{8}$' or word = 'without=00000000' then
          raise exception 'sketch: profile "%": "%": want without=00000001 to without=ffffffff', left(settings, 100), left(word, 40) using errcode = 'invalid_parameter_value';
        end if;
        p.without := ('x' || substr(word, 9))::bit(32)::bigint;
        continue;
      end if;
      case word
        when 'case', 'fold' then p.other_case := alike._folds(p.stream) = (word = 'case');
        when 'stop' then p.stop_words := true;
        when 'vowels' then p.vowels := true;
        when 'duplicates' then p.duplicates := true;
        when 'numbers' then p.numbers := true;
        when 'ids' then p.ids := true;
        when 'dates' then p.dates := true;
        when 'set', 'bag' then p.bag := word = 'bag';
        else
          if split_part(word, '=', 1) not in ('w', 'bottom', 'mod', 't', 'k', 's', 'r', 'bits') then
            raise exception 'sketch: profile "%": "%" is not a setting or a preset', left(settings, 100), left(word, 40)
              using errcode = 'invalid_parameter_value', hint = 'select * from alike.profiles() shows the presets.';
          elsif word !~ '^[a-z]+=[+-]?[0-9]{1,18}$' then
            raise exception 'sketch: profile "%": "%": want %=NUMBER', left(settings, 100), left(word, 40), split_part(word, '=', 1)
              using errcode = 'invalid_parameter_value';
          end if;
          number := least(greatest(split_part(word, '=', 2)::bigint, -2147483648), 2147483648);
          case split_part(word, '=', 1)
            when 'bottom' then
              p.family := 1;
              p.modulus := 0;
              p.size := least(number, 2147483647);
            when 'mod' then
              if p.family <> 1 then
                p.family := 2;
                p.size := 0;
              end if;
              p.modulus := number;
            when 'w' then p.w := least(number, 2147483647);
            when 't' then
              p.t := least(number, 2147483647);
              given_t := true;
            when 'k' then p.k := least(number, 2147483647);
            when 's' then p.s := least(number, 2147483647);
            when 'r' then p.r := least(number, 2147483647);
            when 'bits' then p.bits := least(number, 2147483647);
          end case;
      end case;
    end loop;
    if not given_t and p.k between 1 and 64 and p.s between 1 and 255 then
      p.t := greatest(p.t, p.k * p.s);
    end if;
  end loop;
  invalid := alike._invalid(p);
  if invalid is not null then
    raise exception 'sketch: profile "%": %', left(settings, 100), invalid using errcode = 'invalid_parameter_value';
  end if;
  return p;
end
$$;
