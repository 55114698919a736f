-- Gives attachment $1 integer to the build whose tokens have the fingerprint $2 integer,
-- $3 boolean also where a later one has been: NULL, or a sentence why not.
select alike._take_over($1, $2, $3)
