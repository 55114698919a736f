-- Forgets earlier failures of rows: attachment $1 integer, keys $2 text[].
delete from alike.error where attachment = $1 and key = any ($2::text[])
