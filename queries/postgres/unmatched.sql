-- Of keys $1 text[] those that have no match of their own, however it spells them.
select k.key from unnest($1::text[]) as k(key)
where ({values}) not in (
  select {keys_m} from {match} m where ({keys_m}) in (select {values} from unnest($1::text[]) as k(key)))
