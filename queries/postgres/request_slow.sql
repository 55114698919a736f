-- Leaves request $1 bigint to what reads slow documents.
update alike.request set slow = true where id = $1
