drop function alike._hold(integer, smallint);
drop trigger guard on alike.attachment;
drop function alike._guard();
drop policy itself on alike.question;
alter table alike.question disable row level security;
drop policy itself on alike.request;
drop policy passed on alike.admitted;
drop policy itself on alike.admitted;
do $$
declare
  part name;
begin
  foreach part in array array['attachment', 'queue', 'extraction', 'chunk', 'backfill', 'error', 'admitted', 'request'] loop
    execute format('drop policy if exists asker on alike.%I', part);
    execute format('drop policy owner on alike.%I', part);
    execute format('alter table alike.%I disable row level security', part);
  end loop;
end
$$;
drop function alike._sees_all(alike.attachment), alike._reads(alike.attachment), alike._keeps(alike.attachment), alike._owns(alike.attachment);
