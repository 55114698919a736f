drop function alike.pairs(text, double precision);
drop function alike._pairs(alike.attachment, double precision);
drop function alike._comparison(alike.profile_fields, double precision);
drop function alike._pair_candidates(alike.attachment, boolean);
drop function alike._verdicts(alike.attachment);
