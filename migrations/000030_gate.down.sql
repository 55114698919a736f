drop function alike.gate(text, bytea, text);
drop function alike._gate(alike.attachment, bytea, text);
drop table alike.admitted;
