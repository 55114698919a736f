-- The schema alike and its roles.

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
revoke all on schema alike from public;
