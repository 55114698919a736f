-- Features that three rows and more have, the hottest first, with the beginning of
-- a text behind each: slot, feature, documents, example, beginning. For a large
-- table raise the threshold; the query then shows templates and footers.
select h.slot, h.feature, h.documents, h.example, substr(d.body, 1, 40) as beginning
from (
  select slot, feature, count(*) as documents, min(id) as example
  from documents_alike_feature
  group by slot, feature
  having count(*) >= 3
) h
join documents d on d.id = h.example
order by h.documents desc, h.slot, h.feature;
