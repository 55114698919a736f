-- Removes the side rows of keys $1 text[] that are not in the table: their keys as the side
-- table spells them, which equal the given ones.
delete from {side} s
where ({keys_s}) in (select {values} from unnest($1::text[]) as k(key))
  and not exists (select from ({rows}) d where {same})
returning {text_s}
