-- The rows alike to a text that is not in the table, by two shared features:
-- id, shared. PostgreSQL computes no features of a text; pgworker check does, and
-- these are those of a text that differs from row 1 in its last word. One arm a feature,
-- so that each uses its index.
with asked (feature, slot) as (
  select * from unnest(array[
    -8947493558830019873, 332465102380473771, 223755411518475154, -7738171377761348761, 4654048084990759500,
    2909416301389751835, 3372682334527187794, 7835336368419528643, 7415543593620153776, -7788171808473357395,
    -25981595155488831, -1461929806007159870
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
) hit
group by id
having count(*) >= 2
order by shared desc, id;
