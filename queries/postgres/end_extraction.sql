-- The slow document $1 bigint is done, or its failure is recorded.
delete from alike.extraction where id = $1
