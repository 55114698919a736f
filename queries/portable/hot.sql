-- Features that three rows and more have, the hottest first: slot, feature, documents,
-- example.
select slot, feature, count(*) as documents, min(key) as example
from document_feature
group by slot, feature
having count(*) >= 3
order by count(*) desc, slot, feature
