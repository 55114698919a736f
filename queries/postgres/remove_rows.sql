-- Removes the side rows of keys $1 text[] that are not in the table: their keys as the side
-- table spells them, which equal the given ones.
with gone as (
  delete from {side} s
  where ({keys_s}) in (select {values} from unnest($1::text[]) as k(key))
    and not exists (select from ({rows}) d where {same})
  returning {keys_s}) -- as they are: Citus takes no function here
select {text_s} from gone s
