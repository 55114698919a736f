-- How a sample of column $2 text of table $1 text is read, $3 integer rows or more of a
-- table that has them; how its rows are counted; and about how many there are, -1 where that
-- is not known or they are few.
select read, count, rows from alike._relation($1) as r(relation), alike._sampling(r.relation, $2, $3)
where r.relation is not null
