-- Writes the functions anew of attachments with a renamed table, column or schema, and has all
-- of their rows compared: the names. Attachments of other owners are left to their workers.
select a.name
from alike.attachment a
cross join lateral alike._mend(a)
where alike._owns(a) and alike._renamed(a)
