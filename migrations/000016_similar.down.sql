drop function alike._similar(alike.attachment, bigint[], bytea, text, double precision, bigint, integer);
drop function alike._short(alike.attachment);
drop function alike._make_similar(alike.attachment);
