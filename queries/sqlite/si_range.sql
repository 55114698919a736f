-- Roth's query: the rows whose similarity index lies within 30 % of that of row
-- 1: id, si, low, high. He wrote it in Documentum's DQL, with the bounds computed
-- beforehand and written with ".0", which makes them doubles:
--
--   SELECT r_object_id FROM dm_document
--   WHERE si_aspect.value > [lower bound].0 AND si_aspect.value < [upper bound].0
--
-- The index is a sum that behaves like a random walk. It misses near-duplicates and
-- returns rows that have little in common; alike_to_row.sql does neither.
select d.id, d.si_43b_4 as si, asked.low, asked.high
from (
  select alike_si_low(si_43b_4) as low, alike_si_high(si_43b_4) as high
  from documents_alike where id = 1
) asked
join documents_alike d on d.si_43b_4 > asked.low and d.si_43b_4 < asked.high
order by d.id;
