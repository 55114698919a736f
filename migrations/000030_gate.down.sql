drop function alike.gate(text, bytea, anycompatible, bigint);
drop function alike.gate(text, bytea, text, bigint);
drop function alike._gate(alike.attachment, bytea, text, bigint);
drop function alike._check_gate();
drop table alike.admitted;
