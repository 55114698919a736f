drop function alike.gate(text, bytea, text);
drop function alike._gate(alike.attachment, bytea, text);
drop function alike._check_gate();
drop table alike.admitted;
