-- Every pair of rows that share two features, once: key, other, shared.
select a.key as key, b.key as other, count(*) as shared
from document_feature a
join document_feature b on b.slot = a.slot and b.feature = a.feature
where a.key < b.key
group by a.key, b.key
having count(*) >= 2
order by count(*) desc, a.key, b.key
