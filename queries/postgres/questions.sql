-- Takes up to $1 integer questions that functions have asked: id, task, settings, documents.
select id, task, settings, documents
from alike.question
where answered_at is null
order by id
limit $1
for update skip locked
