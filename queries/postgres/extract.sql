-- Puts keys $2 text[] of attachment $1 integer, which wait since $3 timestamptz,
-- among the documents that are read outside of any transaction.
insert into alike.extraction (attachment, key, queued_at) select $1, unnest($2::text[]), $3
