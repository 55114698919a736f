-- Gives back the slow document $1 bigint, which nobody has tried.
update alike.extraction set taken_until = null where id = $1
