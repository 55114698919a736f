-- Of keys $1 text[] those that have a side row under the profile in use.
select k.key from unnest($1::text[]) as k(key) where exists (select from {side} s where {is_s} and s.profile = {profile_id})
