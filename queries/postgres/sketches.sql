-- Rows $1 text[] in the order of their keys: key, sketch.
select k.key, s.sketch from unnest($1::text[]) as k(key) join {side} s on {is_s} order by {keys_s}
