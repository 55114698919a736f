-- The rows alike to row 1, by two shared features: key, shared.
select b.key as key, count(*) as shared
from document_feature a
join document_feature b on b.slot = a.slot and b.feature = a.feature
where a.key = 1 and b.key <> 1
group by b.key
having count(*) >= 2
order by count(*) desc, b.key
