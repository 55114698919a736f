-- Has an attachment leave out a list of shingles, or nothing.
-- $1 bytea  the list, NULL for none
select {learn}($1::bytea)
