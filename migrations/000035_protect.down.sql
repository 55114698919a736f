drop function alike.own(text);
drop function alike._own(alike.attachment);
drop function alike._unprotect(alike.attachment);
drop function alike._protect(alike.attachment);
