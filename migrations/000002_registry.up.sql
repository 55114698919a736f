-- What is attached: profiles, and one row an attachment.
set local search_path = pg_catalog, pg_temp;

-- Profiles by number, so that a row spends two bytes on its profile.
create table alike.settings (
  id smallint generated always as identity constraint settings_pkey primary key,
  profile text not null,
  tokens integer
);
comment on table alike.settings is 'profiles in their canonical spelling, each with the fingerprint of the tokens that a build of Alike makes for it, by the number in the side tables';
comment on column alike.settings.tokens is 'NULL until a worker has sketched under the number';
create index settings_profile_idx on alike.settings (profile);

-- The lists of shingles that profiles leave out, which package sketch calls a Boilerplate.
create table alike.boilerplate (
  list bigint constraint boilerplate_pkey primary key,
  shingles bytea not null
);
comment on table alike.boilerplate is 'shingles that very many rows of a table share, by the name in the setting without of a profile';

-- Keeps a list, in the place of those that nothing uses, and returns its name. It runs as its owner, as alike._settings_id does: what
-- a list is named by tells its content.
create function alike._keep_boilerplate(shingles bytea) returns text language plpgsql strict security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  name constant bigint := greatest(1, ('x' || encode(substr(sha256(shingles), 1, 4), 'hex'))::bit(32)::bigint);
begin
  if length(shingles) not between 8 and 8388608 or length(shingles) % 8 <> 0 then
    raise exception 'alike: a list of % bytes of shingles, want 8 to 8388608, a multiple of 8', length(shingles) using errcode = 'invalid_parameter_value';
  end if;
  -- A list that no attachment leaves out is deleted. The lock keeps others from adding one meanwhile.
  lock table alike.boilerplate in share row exclusive mode;
  delete from alike.boilerplate b where b.list <> name and not exists (
    select from alike.attachment a join alike.settings p on p.id = a.profile_id where p.profile like '%without=' || lpad(to_hex(b.list), 8, '0') || '%');
  insert into alike.boilerplate values (name, shingles) on conflict do nothing;
  return lpad(to_hex(name), 8, '0');
end
$$;

create table alike.attachment (
  id integer generated always as identity constraint attachment_pkey primary key,
  name text not null,
  source regclass not null,
  column_name name not null,
  key_columns name[] not null,
  side_schema name not null,
  side_name name not null,
  profile_id smallint not null constraint attachment_profile_fkey references alike.settings (id),
  variants text[] not null,
  features smallint not null,
  policy text not null constraint attachment_policy_check check (policy in ('ignore', 'link', 'warn', 'reject')),
  mode text not null constraint attachment_mode_check check (mode in ('queue', 'scan')),
  distributed boolean not null,
  at_least double precision not null constraint attachment_at_least_check check (at_least >= 0 and at_least <= 1),
  row_filter text,
  filter_columns name[] not null,
  extract jsonb,
  options jsonb not null,
  indexed boolean not null,
  replaces integer constraint attachment_replaces_fkey references alike.attachment (id),
  attached_at timestamptz not null default now(),
  attached_by name not null default session_user,
  problem text,
  matches integer not null default 10 constraint attachment_matches_check check (matches between 1 and 1000),
  side regclass not null,
  columns name[] not null,
  numbers smallint[] not null,
  numbers_of oid not null,
  spelled name[] not null,
  preset text not null,
  recall double precision constraint attachment_recall_check check (recall > 0 and recall < 1),
  reason text,
  looked integer,
  superfeatures smallint not null default 0
);
comment on table alike.attachment is 'one row an aspect: which column of which table, under which profile, with what behaviour';
comment on column alike.attachment.name is 'the table''s name unless the attachment was given another';
comment on column alike.attachment.side_name is 'the side table; the views and the other tables have its name with a suffix';
comment on column alike.attachment.indexed is 'false while the side table is being filled: its indexes are made at the end';
comment on column alike.attachment.replaces is 'the attachment whose place this one takes when it is filled';
comment on column alike.attachment.problem is 'why the worker left it alone, such as a column that was dropped';
comment on column alike.attachment.matches is 'how many rows a checkin records that resemble its own, the nearest ones';
comment on column alike.attachment.columns is 'what it reads of the table, under the names of the time of attach: the key, the document, and what the condition and extract need';
comment on column alike.attachment.numbers is 'the numbers of these columns, which stay when a column is renamed';
comment on column alike.attachment.numbers_of is 'the table that has these numbers: a restored one may have others';
comment on column alike.attachment.spelled is 'the names of these columns in the functions that attach and mend have written';
comment on column alike.attachment.preset is 'the preset that its profile builds on';
comment on column alike.attachment.recall is 'the share of the pairs at at_least and a little above that its filter was chosen to find; null where the profile gives k or s';
comment on column alike.attachment.reason is 'why attach chose that preset; null where it was told';
comment on column alike.attachment.looked is 'how many texts it looked at';
comment on column alike.attachment.superfeatures is 'how many superfeatures are columns of the side table';
create unique index attachment_name_key on alike.attachment (side_schema, name) where replaces is null;
create unique index attachment_replaces_key on alike.attachment (replaces);
create index attachment_source_idx on alike.attachment (source);

-- The smallest number of a profile above one, under the tokens of a build where made is
-- given; assigned when there is none. It runs as its owner: no role writes this table,
-- which all read.
create function alike._settings_id(spelling text, made integer default null, above smallint default 0) returns smallint language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  found_id smallint;
begin
  if spelling is distinct from alike._spell(alike._parse(spelling)) then
    raise exception 'alike: the profile "%" is not in its canonical spelling', left(spelling, 100) using errcode = 'invalid_parameter_value';
  end if;
  select min(id) into found_id from alike.settings where profile = spelling and id > above and (made is null or tokens = made);
  if found_id is null then
    lock table alike.settings in share row exclusive mode;
    select min(id) into found_id from alike.settings where profile = spelling and id > above and (made is null or tokens = made or tokens is null);
    if found_id is null then
      insert into alike.settings (profile, tokens) values (spelling, made) returning id into found_id;
    elsif made is not null then
      update alike.settings set tokens = made where id = found_id;
    end if;
  end if;
  return found_id;
end
$$;
