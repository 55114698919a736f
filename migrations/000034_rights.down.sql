do $$
declare
  role name;
begin
  foreach role in array array['alike_reader', 'alike_worker', 'alike_admin'] loop
    if to_regrole(role) is not null then
      execute format('revoke all on all tables in schema alike from %I', role);
      execute format('revoke all on all sequences in schema alike from %I', role);
      execute format('revoke update (indexed, problem) on alike.attachment from %I', role);
      execute format('revoke all on schema alike from %I', role);
    end if;
  end loop;
end
$$;
