-- The number of shingles of the row with the key $1 text.
select coalesce((select s.shingles from (select $1::text as key) k join {side} s on {is_s}), 0)
