drop function alike.filter_plan(double precision, double precision, double precision, double precision);
drop function alike._plan_for(integer, double precision, double precision, double precision, double precision);
drop function alike._add_group(double precision, double precision[], double precision[]);
drop function alike.filter_curve(integer, integer, integer);
drop function alike._half_point(integer, integer, integer);
drop function alike.filter(integer, integer, integer, double precision);
drop function alike._power(double precision, integer);
drop function alike._check_filter(integer, integer, integer);
