-- Takes keys $1 text[] out of the clusters that are kept, and a row that is left alone
-- in its cluster with them. The size of the others goes down.
with gone as (
  delete from {cluster} where key = any ($1::text[]) returning cluster
),
rest as (
  select c.cluster, count(*) as n from {cluster} c
  where c.cluster in (select cluster from gone) and c.key <> all ($1::text[])
  group by c.cluster
),
alone as (
  delete from {cluster} c using rest where c.cluster = rest.cluster and rest.n = 1 and c.key <> all ($1::text[])
)
update {cluster} c set size = rest.n from rest where c.cluster = rest.cluster and rest.n > 1 and c.key <> all ($1::text[])
