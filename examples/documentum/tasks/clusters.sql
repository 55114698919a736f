-- The clusters of documents whose current versions resemble each other, the biggest first:
-- each document takes the smallest i_chronicle_id that reaches it over pairs.
with recursive pair as (
  select a.i_chronicle_id as first_id, b.i_chronicle_id as second_id, a.r_object_id as first_version, b.r_object_id as second_version
  from alike_pairs('si_aspect') p
  join dm_document a on a.r_object_id in (p.key, p.other)
  join dm_document b on b.r_object_id in (p.key, p.other) and b.i_chronicle_id > a.i_chronicle_id
),
edge (i_chronicle_id, other) as (
  select first_id, second_id from pair union all select second_id, first_id from pair
),
label (i_chronicle_id, cluster) as (
  select first_id, first_id from pair
  union
  select e.other, l.cluster from label l join edge e on e.i_chronicle_id = l.i_chronicle_id where e.other > l.cluster
),
member (i_chronicle_id, cluster) as (
  select i_chronicle_id, min(cluster) from label group by i_chronicle_id
)
select count(*) over (partition by m.cluster) as size, m.cluster, d.r_object_id, d.object_name, d.r_version_label as version, f.r_folder_path as folder
from member m
join dm_document d on d.i_chronicle_id = m.i_chronicle_id
join dm_sysobject_r r on r.r_object_id = d.r_object_id and r.i_position = -1
join dm_folder_r f on f.r_object_id = r.i_folder_id
order by size desc, m.cluster, d.i_chronicle_id;
