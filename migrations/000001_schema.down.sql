drop schema alike;

-- The roles may serve other databases of this server: those that nothing
-- depends on and that have no members go.
do $$
declare
  role name;
begin
  foreach role in array array['alike_reader', 'alike_worker', 'alike_admin'] loop
    begin
      if exists (select from pg_catalog.pg_auth_members where roleid = to_regrole(role)) then
        raise notice 'role % has members and stays', role;
      else
        execute pg_catalog.format('drop role if exists %I', role);
      end if;
    exception
      when dependent_objects_still_exist or insufficient_privilege or object_in_use then
        raise notice 'role % stays', role;
    end;
  end loop;
end
$$;
