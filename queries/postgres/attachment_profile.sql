-- What a document is to be sketched under: the profile and the similarity
-- indexes of an attachment, and its number.
-- $1 text  the table or its attachment
select s.profile, a.variants, a.id
from alike._attachment($1) a
join alike.settings s on s.id = a.profile_id
