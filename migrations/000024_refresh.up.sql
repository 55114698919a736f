-- Has the worker compare every row of a table with its sketch, or sketch the rows again
-- that a build with other tokens has sketched.

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
  execute alike._fill('select count(*) from ({rows}) d where not exists (select from {side} s where {same} and s.profile = {profile_id} and not ' || alike._damaged(a, 's') || ')', alike._fragments(a)) into missing;
  delete from alike.chunk where attachment = a.id and keys is null;
  insert into alike.backfill (attachment, rows) values (a.id, missing)
  on conflict (attachment) do update set requested_at = now(), split_at = null, finished_at = null, rows = excluded.rows, deletions = true;
  return missing;
end
$$;

create function alike.refresh("table" text) returns bigint language sql strict
as $$ select alike._refresh(alike._attachment("table")) $$;
comment on function alike.refresh(text) is 'has the worker compare every row with its sketch; returns the number of rows that have none';

create function alike._other_build(a alike.attachment) returns text language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format('the rows of %s were sketched by a build of Alike that makes other tokens; its worker, or pgworker refresh, sketches them again', a.name)
$$;

-- Gives an attachment to the build that makes these tokens: NULL, or a sentence why
-- not. Where a later build has been, an earlier one stands back, so that two of them side by
-- side do not undo each other's work; again is for who wants the earlier one. The
-- lock waits for those who write rows under the old number.
create function alike._take_over(attachment integer, made integer, again boolean) returns text language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  a alike.attachment;
  known alike.settings;
  own_id smallint;
  stale bigint;
begin
  perform pg_advisory_xact_lock(hashtext('alike build'), _take_over.attachment);
  select * into a from alike.attachment t where t.id = _take_over.attachment;
  select * into known from alike.settings s where s.id = a.profile_id;
  if not found or known.tokens = made or not alike._owns(a) then
    return null;
  end if;
  own_id := alike._settings_id(known.profile, made);
  if own_id < a.profile_id then
    if not again then
      return alike._other_build(a);
    end if;
    own_id := alike._settings_id(known.profile, made, a.profile_id);
  end if;
  if own_id = a.profile_id then
    return null;
  end if;
  update alike.attachment t set profile_id = own_id where t.id = a.id returning * into a;
  perform alike._make_similar(a);
  execute format('select count(*) from %s s where s.profile <> %s', a.side, own_id) into stale;
  delete from alike.chunk c where c.attachment = a.id and c.keys is null;
  update alike.backfill b set requested_at = now(), split_at = null, finished_at = null, rows = stale, deletions = true where b.attachment = a.id;
  return null;
end
$$;
