-- The rows alike to a text that is not in the table, by two shared features:
-- id, shared. One arm a feature, so that each uses its index; CROSS JOIN has SQLite begin
-- with the text, where it might read the table through after ANALYZE.
with asked as materialized (
  select slot, feature
  from alike_features(alike_sketch('The harbour committee met on Tuesday at seven in the old customs house. It agreed to postpone the vote on the new breakwater until the engineers have reported in full, and asked the treasurer to find out what the insurance of the fishing boats would cost if the work began in spring.'))
)
select id, count(*) as shared
from (
  select id from asked cross join documents_alike on f1 = feature where slot = 1
  union all select id from asked cross join documents_alike on f2 = feature where slot = 2
  union all select id from asked cross join documents_alike on f3 = feature where slot = 3
  union all select id from asked cross join documents_alike on f4 = feature where slot = 4
  union all select id from asked cross join documents_alike on f5 = feature where slot = 5
  union all select id from asked cross join documents_alike on f6 = feature where slot = 6
  union all select id from asked cross join documents_alike on f7 = feature where slot = 7
  union all select id from asked cross join documents_alike on f8 = feature where slot = 8
  union all select id from asked cross join documents_alike on f9 = feature where slot = 9
  union all select id from asked cross join documents_alike on f10 = feature where slot = 10
  union all select id from asked cross join documents_alike on f11 = feature where slot = 11
  union all select id from asked cross join documents_alike on f12 = feature where slot = 12
  union all select id from asked cross join documents_alike on f13 = feature where slot = 13
  union all select id from asked cross join documents_alike on f14 = feature where slot = 14
  union all select id from asked cross join documents_alike on f15 = feature where slot = 15
  union all select id from asked cross join documents_alike on f16 = feature where slot = 16
  union all select id from asked cross join documents_alike on f17 = feature where slot = 17
  union all select id from asked cross join documents_alike on f18 = feature where slot = 18
  union all select id from asked cross join documents_alike on f19 = feature where slot = 19
  union all select id from asked cross join documents_alike on f20 = feature where slot = 20
  union all select id from asked cross join documents_alike on f21 = feature where slot = 21
  union all select id from asked cross join documents_alike on f22 = feature where slot = 22
  union all select id from asked cross join documents_alike on f23 = feature where slot = 23
) hit
group by id
having count(*) >= 2
order by shared desc, id;
