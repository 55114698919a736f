-- Deletes questions that nobody waits for any more.
delete from alike.question where asked_at < clock_timestamp() - interval '10 minutes'
