-- Notes rows $2 text[] of attachment $1 integer that are checked in while its side table is
-- being filled. What is filled by then, who asks afterwards sees.
insert into alike.chunk (attachment, keys, rows)
select $1, $2, 0 from alike.backfill b where b.attachment = $1 and b.finished_at is null
