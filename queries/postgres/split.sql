-- Cuts the keys of the table into chunks of $1 bigint rows: a chunk ends at every
-- $1st key, and the last one is open.
insert into alike.chunk (attachment, above, upto, rows)
select {id}, lag(key) over (order by n), case when n % $1 = 0 then key end, n - lag(n, 1, 0::bigint) over (order by n)
from (
  select {text_d} as key, row_number() over (order by {keys_d}) as n, count(*) over () as total from ({rows}) d
) as numbered
where n % $1 = 0 or n = total
order by n
