-- Has the worker compare every row of a table with its sketch.

create function alike._refresh(a alike.attachment) returns bigint language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  missing bigint;
begin
  execute format('select count(*) from (select * from %s%s) d where not exists (select from %I.%I s where %s and s.profile = %s)',
    a.source, ' where ' || a.row_filter, a.side_schema, a.side_name, alike._key_equal(a.key_columns, 's', 'd'), a.profile_id) into missing;
  delete from alike.chunk where attachment = a.id;
  insert into alike.backfill (attachment, rows) values (a.id, missing)
  on conflict (attachment) do update set requested_at = now(), split_at = null, finished_at = null, rows = excluded.rows, deletions = true;
  perform pg_notify('alike', a.id::text);
  return missing;
end
$$;

create function alike.refresh("table" text) returns bigint language sql strict
as $$ select alike._refresh(alike._attachment("table")) $$;
comment on function alike.refresh(text) is 'has the worker compare every row with its sketch; returns the number of rows that have none';
