-- Who may do what: a reader asks, a worker writes what it computed, an admin attaches,
-- each of them as far as the policies let him. What is given to everybody is what the
-- owner of an attached table needs when he has none of these roles any more: his checkins
-- go on.

-- The number of the newest migration, which each one writes anew: a worker of a newer
-- release refuses an older schema.
create function alike.migration() returns integer language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select 38 $$;
comment on function alike.migration() is 'the number of the newest migration of the schema';

revoke execute on all functions in schema alike from public;
grant usage on schema alike to public;
grant select on alike.attachment to public;
grant insert (attachment, key, more, file) on alike.queue to public;
-- The owner of a table runs the merges of its parts.
grant execute on function alike._owns(alike.attachment), alike._keeps(alike.attachment), alike._reads(alike.attachment), alike._sees_all(alike.attachment), alike._makers(alike.attachment),
  alike._parts(integer, name), alike._part_comment(text, bigint, bigint, integer[], text[]) to public;

do $$
declare
  role name;
begin
  foreach role in array array['alike_reader', 'alike_worker', 'alike_admin'] loop
    if to_regrole(role) is not null then
      execute format('grant execute on all functions in schema alike to %I', role);
      execute format('grant insert (task, settings, documents), select (id, asked_by, answered_at, answer, error), delete on alike.question to %I', role);
      execute format('grant select on alike.settings, alike.boilerplate, alike.attachment, alike.queue, alike.extraction, alike.chunk, alike.backfill, alike.error, alike.lower_bound, alike.admitted to %I', role);
    end if;
  end loop;
  if to_regrole('alike_worker') is not null then
    -- FOR UPDATE SKIP LOCKED asks for the right to update a column.
    grant insert (attachment, key, more, file), update (queued_at), delete on alike.queue to alike_worker;
    grant insert (attachment, key, queued_at), update (taken_until), delete on alike.extraction to alike_worker;
    grant insert (attachment, above, upto, keys, rows), update (rows), delete on alike.chunk to alike_worker;
    grant update (requested_at, split_at, finished_at, rows, deletions) on alike.backfill to alike_worker;
    grant insert, update, delete on alike.error to alike_worker;
    grant delete on alike.admitted to alike_worker;
    grant select, update (documents, answered_at, answer, error) on alike.question to alike_worker;
    create policy answer on alike.question to alike_worker using (true) with check (true);
    grant select, update (slow, taken, answered_at, sketch, passages, shingles, error, document), delete on alike.request to alike_worker;
    grant update (profile_id, indexed, problem, side_schema, side_name, numbers, numbers_of, spelled) on alike.attachment to alike_worker;
    -- Citus does not spare who may insert the right to the numbers.
    grant usage on all sequences in schema alike to alike_worker;
  end if;
  if to_regrole('alike_admin') is not null then
    grant insert, update, delete on alike.attachment to alike_admin;
    grant insert (attachment, key, more, file), delete on alike.queue to alike_admin;
    grant delete on alike.chunk to alike_admin;
    grant insert, update on alike.backfill to alike_admin;
    grant insert (attachment, features, sketch, itself, shingles) on alike.admitted to alike_admin;
    grant update (attempts, retry_at), delete on alike.error to alike_admin;
    grant insert (attachment, document, media), select (id, attachment, asked_at, asked_by, answered_at, sketch, passages, shingles, error), delete on alike.request to alike_admin;
    grant usage on all sequences in schema alike to alike_admin;
  end if;
end
$$;

-- A session that has loaded a dump has row_security off, under which to read a table with a
-- policy is an error. What reads the tables of the schema alike heeds their policies there, too.
do $$
declare
  reader regprocedure;
begin
  for reader in
    select p.oid from pg_proc p
    where p.pronamespace = 'alike'::regnamespace and p.proconfig is not null
      and exists (select from pg_class c where c.relnamespace = p.pronamespace and c.relrowsecurity and p.prosrc ~ ('alike[.]' || c.relname || '[^a-z_]')) loop
    execute format('alter function %s set row_security = on', reader);
  end loop;
end
$$;
