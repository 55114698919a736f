drop function alike.cells(double precision, double precision, double precision, double precision, double precision);
drop function alike._square(double precision);
