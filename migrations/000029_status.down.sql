drop function alike.version();
drop function alike.status();
drop function alike._note(alike.attachment, bigint, bigint, bigint);
drop function alike._unseen(alike.attachment, bigint, bigint);
drop function alike._count(regclass, text);
drop function alike.errors(text);
drop function alike._errors(alike.attachment);
drop function alike.hot(text);
drop function alike._hot(alike.attachment);
