-- alike_forget_N removes what a person has said of rows that are not in the table
-- any more, of those with the given keys, or of all. It is for what no trigger saw:
-- a table without triggers, or rows that went while they were disabled. It runs as
-- its owner: the worker calls it, who may not write verdicts, and whom it lets
-- remove none of a row that is there.
create function alike._make_forget(a alike.attachment) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  forget constant text := alike._generated(a, 'forget') || '(text[])';
begin
  execute format('create or replace function %s(given text[]) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp%s as %L',
    alike._generated(a, 'forget'), alike._spelling(a), alike._fill(
$function$
declare
  gone text[];
begin
  if not exists (select from {mark}) then
    return;
  elsif given is null then
    select array_agg(q.key) into given from (select {text_m} as key from {mark} m union select {text_others_m} from {mark} m) q;
  end if;
  select array_agg(q.key) into gone
  from (select k.key from unnest(given) as k(key) except select k.key from unnest(given) as k(key) join ({rows}) d on {is_d}) q;
  delete from {mark} m where ({keys_m}) in (select {values} from unnest(gone) as k(key));
  delete from {mark} m where ({others_m}) in (select {values} from unnest(gone) as k(key));
end
$function$, alike._fragments(alike._unfiltered(a))));
  execute format('revoke all on function %s from public', forget);
end
$$;
