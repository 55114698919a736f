-- What the worker has to do: rows that were checked in, ranges of rows that were there
-- before, and rows that failed.
set local search_path = pg_catalog, pg_temp;

-- Append-only: a key may be in it many times, which costs less than keeping
-- it unique would make a checkin wait. The key is text, a JSON array when it
-- has several columns, and more are further keys that the same statement changed.
-- NULL says that many rows are gone, after a TRUNCATE for example. A statement that changed
-- a large part of a table notes no keys, which would take longer than the statement itself,
-- but the file that the table is in: the rows are those that the same transaction wrote
-- (their xmin is that of this entry), as long as the table is in that file.
create table alike.queue (
  id bigint generated always as identity (cache 64) constraint queue_pkey primary key,
  attachment integer not null,
  key text,
  more text[],
  file text,
  queued_at timestamptz not null default now()
)
with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
comment on table alike.queue is 'rows that were checked in and wait for the worker';
create index queue_file_idx on alike.queue (id) where file is not null;

-- The queue's slow entries: a command extracts the text, or the document is long. A
-- worker takes one for a time and reads it outside of any transaction.
create table alike.extraction (
  id bigint generated always as identity constraint extraction_pkey primary key,
  attachment integer not null constraint extraction_attachment_fkey references alike.attachment (id) on delete cascade,
  key text not null,
  queued_at timestamptz not null default now(),
  taken_until timestamptz
);
comment on table alike.extraction is 'rows whose documents are slow to read';
comment on column alike.extraction.taken_until is 'a worker reads it until then; NULL until one does';

-- A range of keys, above the first and up to the second, that has not been
-- read yet. NULL is an open end. Or keys of rows that were checked in meanwhile, for which the
-- worker looks again when the table is full: what they resemble may have been filled later.
create table alike.chunk (
  id bigint generated always as identity constraint chunk_pkey primary key,
  attachment integer not null constraint chunk_attachment_fkey references alike.attachment (id) on delete cascade,
  above text,
  upto text,
  keys text[],
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
