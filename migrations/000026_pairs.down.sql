drop function alike.pairs(text, double precision);
drop function alike._pairs(alike.attachment, double precision);
