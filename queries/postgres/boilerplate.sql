-- A list of shingles that a profile leaves out.
-- $1 bigint  its name
select shingles from alike.boilerplate where list = $1
