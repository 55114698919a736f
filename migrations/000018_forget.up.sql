-- alike_forget_N removes what a person has said of rows that are not in the table
-- any more, of those with the given keys, or of all. It is for what no trigger saw:
-- a table without triggers, or rows that went while they were disabled. It runs as
-- its owner: the worker calls it, who may not write verdicts, and whom it lets
-- remove none of a row that is there.
create function alike._make_forget(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  keys constant name[] := a.key_columns;
  types constant text[] := alike._key_types(alike._side(a), keys);
  others constant name[] := alike._others(keys);
  forget constant text := alike._generated(a, 'forget') || '(text[])';
  gone constant text := format('(select %s from unnest(gone) as k(key))', array_to_string(alike._key_values(keys, types, 'k.key'), ', '));
begin
  execute format('create or replace function %I.%I(given text[]) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp set datestyle = ''ISO, YMD'' set intervalstyle = ''postgres'' as %L',
    a.side_schema, 'alike_forget_' || a.id, format(
$function$
declare
  gone text[];
begin
  if not exists (select from %1$s) then
    return;
  elsif given is null then
    select array_agg(q.key) into given from (select %2$s as key from %1$s m union select %3$s from %1$s m) q;
  end if;
  select array_agg(q.key) into gone
  from (select k.key from unnest(given) as k(key) except select k.key from unnest(given) as k(key) join %4$s s on %5$s) q;
  delete from %1$s m where (%6$s) in %8$s;
  delete from %1$s m where (%7$s) in %8$s;
end
$function$,
    alike._name(a, '_mark'), alike._key_text(keys, 'm'), alike._key_text(others, 'm'), a.source,
    alike._key_is(keys, types, 's', 'k.key'), alike._key_list(keys, 'm'), alike._key_list(others, 'm'), gone));
  execute format('revoke all on function %s from public', forget);
end
$$;
