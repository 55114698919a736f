-- Takes up to eight questions that functions have asked: id, task, settings, documents.
select id, task, settings, documents
from alike.question
where answered_at is null
order by id
limit 8
for update skip locked
