drop function alike.clusters(text, double precision);
drop function alike._clusters(alike.attachment, double precision);
