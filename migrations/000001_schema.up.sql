-- The schema of Alike: what is attached where, and the worker's queue.

create schema alike;
comment on schema alike is 'Alike: near-duplicate rows';

-- Roles belong to the server, not to the database, and some services let
-- nobody make one. What cannot be made is announced; everything else works.
do $$
declare
  role name;
begin
  foreach role in array array['alike_reader', 'alike_worker', 'alike_admin'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = role) then
      begin
        execute pg_catalog.format('create role %I nologin', role);
      exception
        when duplicate_object or unique_violation then
          null; -- another database of this server was quicker
        when insufficient_privilege then
          raise notice 'role % does not exist and % may not create it', role, current_user;
      end;
    end if;
  end loop;
end
$$;

-- Profiles by number, so that a row spends two bytes on its profile.
create table alike.settings (
  id smallint generated always as identity constraint settings_pkey primary key,
  profile text not null constraint settings_profile_key unique
);
comment on table alike.settings is 'profiles in their canonical spelling, by the number in the side tables';

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
  problem text
);
comment on table alike.attachment is 'one row an aspect: which column of which table, under which profile, with what behaviour';
comment on column alike.attachment.name is 'the table''s name unless the attachment was given another';
comment on column alike.attachment.side_name is 'the side table; the views and the other tables have its name with a suffix';
comment on column alike.attachment.indexed is 'false while the side table is being filled: its indexes are made at the end';
comment on column alike.attachment.replaces is 'the attachment whose place this one takes when it is filled';
comment on column alike.attachment.problem is 'why the worker left it alone, such as a column that was dropped';
create unique index attachment_name_key on alike.attachment (side_schema, name) where replaces is null;
create unique index attachment_replaces_key on alike.attachment (replaces);
create index attachment_source_idx on alike.attachment (source);

-- Append-only: a key may be in it many times, which costs less than keeping
-- it unique would make a checkin wait. The key is text, a JSON array when it
-- has several columns; NULL stands for the whole table, after a TRUNCATE.
create table alike.queue (
  id bigint generated always as identity (cache 64) constraint queue_pkey primary key,
  attachment integer not null,
  key text,
  queued_at timestamptz not null default now()
)
with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table alike.queue is 'rows that were checked in and wait for the worker';

-- A range of keys, above the first and up to the second, that has not been
-- read yet. NULL is an open end.
create table alike.chunk (
  id bigint generated always as identity constraint chunk_pkey primary key,
  attachment integer not null constraint chunk_attachment_fkey references alike.attachment (id) on delete cascade,
  above text,
  upto text,
  rows bigint not null
);
comment on table alike.chunk is 'what remains of filling a side table for rows that were there before';

create table alike.backfill (
  attachment integer constraint backfill_pkey primary key
    constraint backfill_attachment_fkey references alike.attachment (id) on delete cascade,
  requested_at timestamptz not null default now(),
  split_at timestamptz,
  finished_at timestamptz,
  rows bigint not null,
  deletions boolean not null default false
);
comment on table alike.backfill is 'the state of filling a side table';
comment on column alike.backfill.deletions is 'rows were deleted meanwhile, so that the side table is swept at the end';

create table alike.error (
  attachment integer not null constraint error_attachment_fkey references alike.attachment (id) on delete cascade,
  key text not null,
  message text not null,
  attempts integer not null,
  failed_at timestamptz not null default now(),
  retry_at timestamptz,
  constraint error_pkey primary key (attachment, key)
);
comment on table alike.error is 'rows that failed; retry_at is NULL when the worker has given up';
create index error_retry_at_idx on alike.error (retry_at) where retry_at is not null;

-- Confidence limits that questions ask for again and again: 80 steps of
-- arithmetic each, computed once.
create table alike.lower_bound (
  trials integer not null,
  matches integer not null,
  lower double precision not null,
  constraint lower_bound_pkey primary key (trials, matches)
);
comment on table alike.lower_bound is 'lower ends of the 95 % Clopper-Pearson interval';

-- A sketch that alike.gate has let pass, until the worker has written its own.
create table alike.admitted (
  id bigint generated always as identity constraint admitted_pkey primary key,
  attachment integer not null constraint admitted_attachment_fkey references alike.attachment (id) on delete cascade,
  features bigint[] not null,
  sketch bytea not null,
  itself text,
  admitted_at timestamptz not null default now()
);
comment on table alike.admitted is 'sketches that the gate let pass and that may not be in a side table yet';
create index admitted_attachment_idx on alike.admitted (attachment, admitted_at);

revoke all on schema alike from public;
