-- Rows with the same features in every slot, such as exact duplicates and documents
-- that differ in case and punctuation: key, other.
select a.key as key, b.key as other
from document_feature a
join document_feature b on b.slot = a.slot and b.feature = a.feature
where a.key < b.key
group by a.key, b.key
having count(*) = (select count(distinct slot) from document_feature)
order by a.key, b.key
