-- Takes a table without triggers whose last scan, or filling, was done $1
-- interval ago or longer: attachment. Held until the transaction ends.
select b.attachment
from alike.backfill b
join alike.attachment a on a.id = b.attachment
where a.mode = 'scan' and b.finished_at <= clock_timestamp() - $1::interval
order by a.problem is not null, b.finished_at
limit 1
for update of b skip locked
