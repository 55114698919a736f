-- Takes an attachment that is full and is to leave out what very many rows share: its
-- number, and the share.
select b.attachment, case when a.options -> 'common' <> 'true' then (a.options ->> 'common')::double precision end
from alike.backfill b
join alike.attachment a on a.id = b.attachment
where b.finished_at is not null and a.replaces is null and alike._learns(a.options)
  and not exists (select from alike.attachment next where next.replaces = a.id)
order by b.finished_at
limit 1
for update of b skip locked
