drop function alike._make_ask(alike.attachment);
drop function alike._make_ask_function(alike.attachment);
drop function alike._judge(integer, bytea, text, text, text, double precision, text);
drop function alike._ask(alike.attachment, bytea, text, text, double precision);
drop table alike.request;
