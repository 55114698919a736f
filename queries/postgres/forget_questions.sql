-- Deletes questions whose askers have stopped waiting.
delete from alike.question where asked_at < clock_timestamp() - interval '10 minutes'
