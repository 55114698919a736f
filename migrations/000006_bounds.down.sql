drop function alike._bounds_of_slots(integer, integer);
drop function alike._keep_bounds(integer);
drop function alike.bounds(bytea, bytea, double precision);
drop function alike._bounds(bytea, bytea, double precision);
drop function alike._lower(integer, integer, double precision);
drop function alike._binomial_lower(integer, integer, double precision);
drop function alike.within(integer, double precision, double precision);
drop function alike._binomial(integer, integer, integer, double precision);
drop table alike.lower_bound;
