-- Takes a slow document for $1 interval: id, attachment, key, and whether another
-- worker took it and was not done in time. It stays in its table until it is done.
-- A time further ahead than the interval means that the clock was set back.
with next as (
  select e.id, e.taken_until is not null as abandoned
  from alike.extraction e
  where e.taken_until is null or e.taken_until < clock_timestamp() or e.taken_until > clock_timestamp() + 10 * $1::interval
  order by e.id
  limit 1
  for update skip locked
)
update alike.extraction e
set taken_until = clock_timestamp() + $1::interval
from next
where e.id = next.id
returning e.id, e.attachment, e.key, next.abandoned
