-- Forgets the verdicts on keys $1 text[], NULL for all, that are not in the table.
select {forget}($1::text[])
