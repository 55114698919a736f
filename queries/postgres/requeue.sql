-- Puts keys $2 text[] of attachment $1 integer at the end of the queue.
insert into alike.queue (attachment, key) select $1, unnest($2::text[])
