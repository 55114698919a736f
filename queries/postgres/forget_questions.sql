-- Drops questions whose answer is long overdue.
delete from alike.question where asked_at < clock_timestamp() - interval '10 minutes'
