-- Waits until rows of attachment $1 integer may be written: together with others
-- who write, or alone when $2 boolean says so.
select case when $2 then pg_advisory_xact_lock(hashtext('alike'), $1) else pg_advisory_xact_lock_shared(hashtext('alike'), $1) end
