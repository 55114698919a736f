-- One step of label propagation, from the table document_label (key, cluster), in
-- which every row begins with its key as its cluster, to the same columns: the smallest
-- label among a row's own and those of the rows that share two features with it.
-- Repeated until no label changes, it gives the clusters.
select key, min(label) as cluster
from (
  select key, cluster as label from document_label
  union all
  select pair.other as key, l.cluster as label
  from (
    select a.key as key, b.key as other
    from document_feature a
    join document_feature b on b.slot = a.slot and b.feature = a.feature
    where a.key <> b.key
    group by a.key, b.key
    having count(*) >= 2
  ) pair
  join document_label l on l.key = pair.key
) offered
group by key
order by key
