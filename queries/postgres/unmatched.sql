-- Of keys $1 text[] those that have no match of their own.
select k.key from unnest($1::text[]) as k(key)
except
select {text_m} from {match} m where ({keys_m}) in (select {values} from unnest($1::text[]) as k(key))
