drop function alike.si_high(bigint, double precision);
drop function alike.si_low(bigint, double precision);
drop function alike._spread(bigint, double precision);
drop function alike._nearest(double precision);
drop function alike._si_column(text);
drop function alike._variant(text, integer);
