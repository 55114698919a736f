-- Queues what a scan finds: rows that are new, whose document or profile changed, whose
-- sketch is damaged, or that are gone. A row that failed less than $1 interval ago, or that will be tried
-- again, is left to its retries.
with stale as materialized (
  select {text_d} as key from ({rows}) d left join {side} s on {same}
  where s.profile is distinct from {profile_id} or {damaged_s} or s.content_hash is distinct from {hash}
  union all
  select {text_s} from {side} s where not exists (select from ({rows}) d where {same})
)
insert into alike.queue (attachment, key)
select {id}, key from stale
where key not in (
  select e.key from alike.error e
  where e.attachment = {id} and (e.retry_at is not null or e.failed_at > clock_timestamp() - $1::interval))
