-- Takes up to 100 documents that a trigger asks about and that are not known to be
-- slow: id, attachment, document, media, and the seconds that the trigger waits.
select r.id, r.attachment, r.document, r.media, coalesce((a.options #>> '{ask,timeout}')::double precision, 2)
from alike.request r
join alike.attachment a on a.id = r.attachment
where r.answered_at is null and not r.slow
order by r.id
limit 100
for update of r skip locked
