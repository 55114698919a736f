-- Deletes requests whose checkin no longer waits.
delete from alike.request where asked_at < clock_timestamp() - interval '10 minutes'
