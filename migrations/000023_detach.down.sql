-- What was attached is detached, and its side tables stay: they are the user's.
do $$
declare
  a alike.attachment;
begin
  for a in select * from alike.attachment order by replaces nulls last, id desc loop
    perform alike._detach(a, '{}');
  end loop;
end
$$;
drop function alike.detach(text, jsonb);
drop function alike._detach(alike.attachment, jsonb);
