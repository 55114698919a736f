drop function alike.containment(bytea, bytea);
drop function alike.resemblance(bytea, bytea);
drop function alike._compare(bytea, bytea);
drop function alike._differs(bytea, bytea, boolean);
drop function alike._resemblance(double precision, integer, integer, integer);
drop function alike._list_values(bytea, integer);
drop function alike._wrap(numeric);
drop function alike._slot_values(bytea, alike.profile_fields, integer);
drop function alike._differing(bit varying, integer);
