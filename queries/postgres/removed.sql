-- Of keys $1 text[] those that have no side row.
select k.key from unnest($1::text[]) as k(key)
except
select {text_s} from {side} s where ({keys_s}) in (select {values} from unnest($1::text[]) as k(key))
