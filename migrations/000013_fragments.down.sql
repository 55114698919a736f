drop function alike._fragments(alike.attachment);
drop function alike._counts(alike.attachment, text, text);
drop function alike._in_parts(alike.attachment);
drop function alike._computed(alike.attachment);
drop function alike._hash_of(alike.attachment);
drop function alike._unfiltered(alike.attachment);
drop function alike._rows_of(alike.attachment);
drop function alike._document_of(regtype, text);
drop function alike._fill(text, jsonb);
