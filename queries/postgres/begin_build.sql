-- Says that the sketches under a profile are of a build with these tokens, where none has
-- said so: the number of the profile under them.
-- $1 text     the profile
-- $2 integer  the fingerprint of the tokens
select alike._settings_id($1, $2)
