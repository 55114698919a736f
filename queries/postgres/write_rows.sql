-- Writes side rows: keys $1 text[], then an array for each computed column, from
-- $2 on.
insert into {side} ({keys}, {computed}, sketched_at)
select {values}, {values_of_elements}, clock_timestamp()
from unnest($1::text[], {arrays}) as k(key, {elements})
on conflict ({keys}) do update set {excluded}, sketched_at = excluded.sketched_at
