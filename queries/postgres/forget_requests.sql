-- Drops requests whose checkin has long given up.
delete from alike.request where asked_at < clock_timestamp() - interval '10 minutes'
