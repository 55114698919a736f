-- Roth's query, around the value of one document: the documents whose similarity index
-- lies within 30 % of it. The bounds are whole numbers like the values, or the index would
-- not be used.
select r_object_id, object_name, "si_aspect.value"
from dm_document
where "si_aspect.value" > (select floor(alike.si_low(value))::bigint from si_aspect where r_object_id = :'id')
  and "si_aspect.value" < (select ceil(alike.si_high(value))::bigint from si_aspect where r_object_id = :'id')
order by r_object_id;
