-- Writes the functions of attachments again of which something was renamed, and has all of
-- their rows compared: the names. Those of other owners are left to their workers.
select a.name
from alike.attachment a
cross join lateral alike._mend(a)
where alike._owns(a) and alike._renamed(a)
