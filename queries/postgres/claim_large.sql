-- Takes what statements noted that changed a large part of one table, for as many as wait:
-- attachment, and the transactions whose rows are changed, as xmin shows them; NULL when
-- the table has got another file since, in which rows have other transactions.
with first as (
  select q.attachment from alike.queue q join alike.attachment a on a.id = q.attachment
  where q.file is not null order by a.problem is not null, q.id limit 1 for update of q skip locked
),
waiting as (
  select q.ctid from alike.queue q join first f on f.attachment = q.attachment where q.file is not null for update of q skip locked
),
taken as (
  delete from alike.queue q where q.ctid = any (array(select w.ctid from waiting w)) returning q.attachment, q.xmin::text as version, q.file
)
select t.attachment, case when bool_and(t.file = pg_relation_filepath(a.source)) then array_agg(distinct t.version) end
from taken t
join alike.attachment a on a.id = t.attachment
group by t.attachment
