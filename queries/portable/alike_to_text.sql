-- The rows alike to a document whose features are in the table asked_feature
-- (slot, feature), by two shared features: key, shared.
select f.key as key, count(*) as shared
from asked_feature a
join document_feature f on f.slot = a.slot and f.feature = a.feature
group by f.key
having count(*) >= 2
order by count(*) desc, f.key
