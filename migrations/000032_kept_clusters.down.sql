drop function alike._join_clusters(alike.attachment, text[]);
drop function alike.write_clusters(text, double precision);
drop function alike._write_clusters(alike.attachment, double precision);
