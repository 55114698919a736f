-- How far filling is: attachment, name, rows in all, rows that remain.
select a.id, a.name, b.rows,
  case when b.split_at is null then b.rows else coalesce((select sum(c.rows) from alike.chunk c where c.attachment = a.id), 0)::bigint end as remaining
from alike.backfill b
join alike.attachment a on a.id = b.attachment
where b.finished_at is null
order by a.id
