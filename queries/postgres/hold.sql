-- Takes the lock that reading the table of attachment $1 integer takes, until the
-- transaction ends: NULL, or a sentence why its rows may be neither read nor removed, nor
-- written under the number $2 smallint of their profile.
select alike._hold($1, $2)
