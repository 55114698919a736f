drop function alike.forest_rows(text, text, integer);
drop function alike._forest_rows(alike.attachment, text, integer);
drop function alike.si_rows(text, text, text, double precision);
drop function alike._si_rows(alike.attachment, text, text, double precision);
drop function alike.rows(text, text, double precision);
drop function alike._rows(alike.attachment, text, double precision);
drop function alike._asked(alike.attachment, double precision);
drop function alike._limit(alike.attachment, double precision);
