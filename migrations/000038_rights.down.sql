-- What was attached is detached, and its side tables stay: they are the user's.
drop policy if exists answer on alike.question;
do $$
declare
  a alike.attachment;
begin
  for a in select * from alike.attachment order by replaces nulls last, id desc loop
    perform alike._detach(a, '{}');
  end loop;
end
$$;
do $$
declare
  role text;
begin
  foreach role in array array['alike_reader', 'alike_worker', 'alike_admin', 'public'] loop
    if role = 'public' or to_regrole(role) is not null then
      execute format('revoke all on all tables in schema alike from %s', role);
      execute format('revoke all on all sequences in schema alike from %s', role);
      execute format('revoke all on all functions in schema alike from %s', role);
      execute format('revoke all on schema alike from %s', role);
    end if;
  end loop;
end
$$;
revoke all (attachment, key, queued_at) on alike.queue from public;
grant execute on all functions in schema alike to public;
do $$
declare
  role name;
  part name;
begin
  foreach role in array array['alike_worker', 'alike_admin'] loop
    if to_regrole(role) is not null then
      for part in select relname from pg_class where relnamespace = 'alike'::regnamespace and relkind = 'r' loop
        execute format('revoke all (%s) on alike.%I from %I',
          (select string_agg(quote_ident(attname), ', ') from pg_attribute where attrelid = format('alike.%I', part)::regclass and attnum > 0 and not attisdropped), part, role);
      end loop;
    end if;
  end loop;
end
$$;
drop function alike.migration();
