drop function alike._join_clusters(alike.attachment, text[]);
drop function alike.write_clusters(text, double precision);
drop function alike._write_clusters(alike.attachment, double precision);
drop function alike._match(alike.attachment, text[]);
drop function alike.gate(text, bytea, text);
drop function alike._distinct_from(alike.attachment, text);
drop function alike._gate(alike.attachment, bytea, text);
