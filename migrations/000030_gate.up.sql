-- What a checkin does with a near-duplicate when its program brings the sketch.
set local search_path = pg_catalog, pg_temp;

-- A sketch that alike.gate has let pass, until the worker has written its own.
create table alike.admitted (
  id bigint generated always as identity constraint admitted_pkey primary key,
  attachment integer not null constraint admitted_attachment_fkey references alike.attachment (id) on delete cascade,
  features bigint[] not null, -- or, by containment, the values of the passages
  sketch bytea not null,
  itself text,
  shingles bigint,
  admitted_at timestamptz not null default now(),
  admitted_by name not null default current_user
);
comment on table alike.admitted is 'sketches that the gate let pass and that may not be in a side table yet';
create index admitted_attachment_idx on alike.admitted (attachment, admitted_at);

-- What a checkin does with a near-duplicate: link and warn when the worker has
-- its sketch, reject inside the checkin's own transaction.

-- Refuses a transaction in which nothing can be judged.
create function alike._check_gate() returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'alike: gate: the transaction is %, which cannot see what was checked in since it began; want read committed',
      current_setting('transaction_isolation') using errcode = 'feature_not_supported';
  elsif not has_any_column_privilege('alike.admitted', 'insert') then
    raise exception 'alike: gate: % may not insert into alike.admitted, where what was let pass is kept', current_user
      using errcode = 'insufficient_privilege', hint = format('grant insert on alike.admitted to %I', current_user);
  end if;
end
$$;

-- Judges a document by its sketch, before or after it is inserted, in the
-- transaction that inserts it: with the policy reject an error names the row
-- that it resembles most; with warn a warning does; the key of that row is
-- returned, or NULL. The sketch has whole minima: it comes from the worker's
-- library, command or HTTP endpoint. itself is the key of the row when it is in
-- the table already. shingles, how many the document has, is needed where short texts need
-- more than others.
--
-- Documents that are checked in at the same moment cannot see each other. Those
-- that share a feature wait for each other here, in the order of the features,
-- and the later one finds what the earlier one left in alike.admitted.
create function alike._gate(a alike.attachment, sketch bytea, itself text, shingles bigint) returns text language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set extra_float_digits = 1 set bytea_output = 'hex'
as $$
declare
  own bigint[];
  distinct_keys text[] := '{}';
  wanted bigint;
  best record;
  p alike.profile_fields;
  stored alike.profile_fields;
  admitted record;
  short constant record := alike._short(a);
  min_resemblance double precision := a.at_least;
begin
  if alike._by_containment(a) then
    raise exception 'alike: gate: the policy of % acts by containment, of which a sketch does not tell', a.name using errcode = 'feature_not_supported',
      hint = 'With the option ask a trigger judges every insert and update.';
  end if;
  if sketch is null then
    return null; -- a document without a token resembles nothing
  elsif short.at_least is not null and shingles is null then
    raise exception 'alike: gate: short texts need more in %; want the number of shingles of the document, too', a.name using errcode = 'null_value_not_allowed',
      hint = 'alike.gate(table, sketch, itself, shingles)';
  end if;
  perform alike._check_gate();
  if itself is not null then
    itself := alike._spelled(a, itself);
    distinct_keys := alike._distinct_from(a, itself);
  end if;
  p := alike._header(sketch);
  if not alike._slots(p.family) then
    raise exception 'alike: gate: the profile "%" keeps a list of values, whose features PostgreSQL cannot compute; want a family with slots, such as fast', alike._spell(p)
      using errcode = 'feature_not_supported', hint = 'The policy link or warn works with every family.';
  end if;
  stored := alike._parse((select profile from alike.settings where id = a.profile_id));
  stored.bits := 64;
  stored.tokens := p.tokens; -- the comparison with each sketch looks at them
  if p is distinct from stored then
    raise exception 'sketches of different profiles: "%" and "%"', alike._spell(p), alike._spell(stored) using errcode = 'data_exception';
  end if;
  if p.tokens <> (select tokens from alike.settings where id = a.profile_id) then
    raise exception '%', alike._other_build(a) using errcode = 'object_not_in_prerequisite_state';
  end if;
  own := alike._features(sketch);
  for wanted in select distinct f # a.id::bigint << 40 from unnest(own) as f where f is not null order by 1 loop
    perform pg_advisory_xact_lock(wanted);
  end loop;
  select s.key, s.resemblance, null::bigint as shingles into best from alike._similar(a, own, sketch, null, a.at_least, _gate.shingles, cardinality(distinct_keys) + 2) s
  where s.key is distinct from itself and s.key <> all (distinct_keys)
  limit 1;
  if best.key is null then
    select '' as key, alike.resemblance(_gate.sketch, m.sketch) as resemblance, m.shingles into best
    from alike.admitted m
    where m.attachment = a.id and m.features && own and alike.resemblance(_gate.sketch, m.sketch) >= case when least(_gate.shingles, m.shingles) < short.below then short.at_least else a.at_least end
      and (_gate.itself is null or m.itself is null or m.itself <> _gate.itself and m.itself <> all (distinct_keys))
    order by 2 desc
    limit 1;
  end if;
  if best.key is null or a.policy <> 'reject' then
    insert into alike.admitted (attachment, features, sketch, itself, shingles) values (a.id, own, _gate.sketch, _gate.itself, case when short.below is not null then _gate.shingles end);
  end if;
  if best.key is not null and a.policy in ('reject', 'warn') then
    if short.at_least is not null and best.key <> '' then
      execute format('select s.shingles from %s s where %s', alike._name(a, ''), alike._key_is(a.key_columns, alike._key_types(alike._side(a), a.key_columns), 's', '$1'))
      into best.shingles using best.key;
    end if;
    if least(_gate.shingles, best.shingles) < short.below then
      min_resemblance := short.at_least;
    end if;
    if a.policy = 'reject' then
      raise exception 'alike: the document resembles % (resemblance %, rejected from %)',
        case best.key when '' then 'a document that was checked in a moment ago' else format('row %s of %s', best.key, a.name) end,
        round(best.resemblance::numeric, 3), round(min_resemblance::numeric, 3)
        using errcode = 'integrity_constraint_violation', detail = json_build_object('key', nullif(best.key, ''), 'resemblance', best.resemblance)::text;
    end if;
    raise warning 'alike: the document resembles % (resemblance %)',
      case best.key when '' then 'a document that was checked in a moment ago' else format('row %s of %s', best.key, a.name) end, round(best.resemblance::numeric, 3);
  end if;
  return nullif(best.key, '');
end
$$;

create function alike.gate("table" text, sketch bytea, itself text default null, shingles bigint default null) returns text
language sql
as $$ select alike._gate(alike._attachment("table"), sketch, itself, shingles) $$;
comment on function alike.gate(text, bytea, text, bigint) is
  'judges a document by the sketch that its program brings, inside the checkin''s transaction; returns the key of the row that it resembles most';

create function alike.gate("table" text, sketch bytea, itself anycompatible, shingles bigint default null) returns text
language sql
as $$ select alike.gate("table", sketch, alike._typed_key(itself), shingles) $$;
comment on function alike.gate(text, bytea, anycompatible, bigint) is 'judges a document as the other gate does; the key that it has, or is to have, is given by its type';
