-- Who may do what. A reader asks, the worker writes what it computed, an admin
-- attaches. Side tables get their rights from attach.
do $$
begin
  if to_regrole('alike_reader') is not null then
    grant usage on schema alike to alike_reader;
    grant select on alike.settings, alike.attachment, alike.queue, alike.extraction, alike.chunk, alike.backfill, alike.error, alike.lower_bound, alike.admitted to alike_reader;
  end if;
  if to_regrole('alike_worker') is not null then
    grant usage on schema alike to alike_worker;
    grant select on alike.settings, alike.attachment, alike.queue, alike.extraction, alike.chunk, alike.backfill, alike.error, alike.lower_bound, alike.admitted to alike_worker;
    grant insert, delete on alike.queue, alike.extraction, alike.chunk, alike.admitted to alike_worker;
    grant insert, update, delete on alike.error to alike_worker;
    grant select, update, delete on alike.request to alike_worker;
    -- Citus does not spare who may insert the right to the numbers.
    grant usage on all sequences in schema alike to alike_worker;
    -- FOR UPDATE SKIP LOCKED asks for the right to update.
    grant update on alike.queue, alike.extraction, alike.chunk, alike.backfill to alike_worker;
    grant update (indexed, problem) on alike.attachment to alike_worker;
  end if;
  if to_regrole('alike_admin') is not null then
    grant usage on schema alike to alike_admin;
    grant select, insert, update, delete on all tables in schema alike to alike_admin;
  end if;
end
$$;
