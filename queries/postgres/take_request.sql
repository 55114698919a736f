-- Takes a slow document that a trigger asks about: id, attachment, document, media,
-- and the seconds that the trigger waits. Nobody else takes it, even where the
-- worker ends: the trigger does not wait for a second attempt.
with next as (
  select id from alike.request
  where answered_at is null and slow and not taken
  order by id
  limit 1
  for update skip locked
)
update alike.request r
set taken = true
from next, alike.attachment a
where r.id = next.id and a.id = r.attachment
returning r.id, r.attachment, r.document, r.media, coalesce((a.options #>> '{ask,timeout}')::double precision, 2)
