-- Takes up to 100 documents that a trigger asks about: id, attachment, document,
-- media.
select id, attachment, document, media
from alike.request
where answered_at is null
order by id
limit 100
for update skip locked
