-- What rows $2 text[] of attachment $1 integer may contain, and what may contain them, when
-- their documents are read: key, other, shared, containment, low, high, relation.
select h.key, h.other, h.shared, h.containment, h.low, h.high, h.relation
from alike.attachment a cross join lateral alike._held(a, $2::text[]) h where a.id = $1
