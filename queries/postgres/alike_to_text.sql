-- The rows alike to a text that is not in the table, by two shared features:
-- id, shared. PostgreSQL computes no features of a text; pgworker check does, and
-- these are those of a text that differs from row 1 in its last word. One arm a feature,
-- so that each uses its index.
with asked (feature, slot) as (
  select * from unnest(array[
    4602962613419288934, -5291821081621811334, 1585808566507375653, 864061102215693576, 5597070705357922867,
    5230004960373601560, -5926578349228879679, -8519760923270622074, 4993573520221404200, 4028152082377998960,
    230120509523387083, 4274340355073556796, -323127913907790304, -8086694259811966946, -557452962558201087,
    8228368364317587072, -7516663130432858224, -6877642335641675520, -3542463335706764131, -106066724362144418,
    -5913057046973368900, 8802462449589432414, 3906135806602444615
  ]) with ordinality
)
select id, count(*) as shared
from (
  select id from asked join documents_alike on f1 = feature where slot = 1
  union all select id from asked join documents_alike on f2 = feature where slot = 2
  union all select id from asked join documents_alike on f3 = feature where slot = 3
  union all select id from asked join documents_alike on f4 = feature where slot = 4
  union all select id from asked join documents_alike on f5 = feature where slot = 5
  union all select id from asked join documents_alike on f6 = feature where slot = 6
  union all select id from asked join documents_alike on f7 = feature where slot = 7
  union all select id from asked join documents_alike on f8 = feature where slot = 8
  union all select id from asked join documents_alike on f9 = feature where slot = 9
  union all select id from asked join documents_alike on f10 = feature where slot = 10
  union all select id from asked join documents_alike on f11 = feature where slot = 11
  union all select id from asked join documents_alike on f12 = feature where slot = 12
  union all select id from asked join documents_alike on f13 = feature where slot = 13
  union all select id from asked join documents_alike on f14 = feature where slot = 14
  union all select id from asked join documents_alike on f15 = feature where slot = 15
  union all select id from asked join documents_alike on f16 = feature where slot = 16
  union all select id from asked join documents_alike on f17 = feature where slot = 17
  union all select id from asked join documents_alike on f18 = feature where slot = 18
  union all select id from asked join documents_alike on f19 = feature where slot = 19
  union all select id from asked join documents_alike on f20 = feature where slot = 20
  union all select id from asked join documents_alike on f21 = feature where slot = 21
  union all select id from asked join documents_alike on f22 = feature where slot = 22
  union all select id from asked join documents_alike on f23 = feature where slot = 23
) hit
group by id
having count(*) >= 2
order by shared desc, id;
