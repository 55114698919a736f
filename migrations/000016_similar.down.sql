drop function alike._similar(alike.attachment, bigint[], bytea, text, double precision);
drop function alike._make_similar(alike.attachment);
