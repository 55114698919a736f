-- Roth's query, around the value of one document: the documents whose similarity index
-- lies within 30 % of it.
select r_object_id, object_name, "si_aspect.value"
from dm_document
where "si_aspect.value" > (select alike_si_low(value) from si_aspect where r_object_id = :id)
  and "si_aspect.value" < (select alike_si_high(value) from si_aspect where r_object_id = :id)
order by r_object_id;
