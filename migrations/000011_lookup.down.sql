drop function alike._generated(alike.attachment, text);
drop function alike._side(alike.attachment, text);
drop function alike._name(alike.attachment, text);
drop function alike._attachment(text);
drop function alike._attachment_of(regclass, text);
drop function alike._relation(text);
