-- Has the worker compare every row of a table with its sketch.

create function alike._refresh(a alike.attachment) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  missing bigint;
begin
  if alike._renamed(a) then
    perform alike._mend(a);
    select * into a from alike.attachment t where t.id = a.id;
  end if;
  if alike._rows_of(a) is null then
    raise exception 'alike: refresh: the table of % or a column of its key is gone', a.name using errcode = 'undefined_column',
      hint = 'alike.detach takes the aspect away.';
  end if;
  execute alike._fill('select count(*) from ({rows}) d where not exists (select from {side} s where {same} and s.profile = {profile_id})', alike._fragments(a)) into missing;
  delete from alike.chunk where attachment = a.id;
  insert into alike.backfill (attachment, rows) values (a.id, missing)
  on conflict (attachment) do update set requested_at = now(), split_at = null, finished_at = null, rows = excluded.rows, deletions = true;
  return missing;
end
$$;

create function alike.refresh("table" text) returns bigint language sql strict
as $$ select alike._refresh(alike._attachment("table")) $$;
comment on function alike.refresh(text) is 'has the worker compare every row with its sketch; returns the number of rows that have none';
