-- Why there is no table that the worker may work for although tables are attached: a sentence,
-- or NULL. Attachments of other owners do not show; the functions that attach has made for them do.
select case when count(*) > 0 then
  format('%1$I is a member of none of the owners of the attached tables: grant %2$s to %1$I', session_user, string_agg(distinct p.proowner::regrole::text, ' or '))
end
from pg_proc p
where p.proname ~ '^alike_build_[0-9]+$' and not exists (select from alike.attachment a where alike._owns(a))
