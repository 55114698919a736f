drop function alike.keep(text, text, double precision);
drop function alike._keep(alike.attachment, text, double precision);
drop function alike._row_rank(regclass, text);
drop function alike.clusters(text, double precision, text);
drop function alike._clusters(alike.attachment, double precision, text);
drop function alike._link(alike.attachment, double precision, text, text, boolean, text[]);
drop function alike._sketches(alike.attachment, text[]);
drop function alike._kept_apart(integer[], integer[], integer[]);
drop function alike._numbered_pairs(alike.attachment, double precision, text, text, text[]);
