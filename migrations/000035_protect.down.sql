drop function alike.own(text);
drop function alike._own(alike.attachment);
drop function alike._unprotect(alike.attachment);
drop function alike._protect(alike.attachment);
drop function alike._protect_tables(alike.attachment, text[]);
drop function alike._make_sees(alike.attachment);
