-- Takes the place of keys $1 text[] in the side table, or locks the row that is
-- there: another worker may be about to write it, and has to wait or has won.
insert into {side} ({keys}, profile, content_hash, shingles)
select {values}, {profile_id}, 0, 0 from unnest($1::text[]) as k(key)
on conflict ({keys}) do update set shingles = excluded.shingles where false -- locks, and changes nothing
