-- The rows contained in row 6, eight tenths and more: id, containment. It reads
-- the sketches of the attachment "samples", whose profile (mod or scaled) has
-- containment; no feature finds a short document in a long one.
with a as materialized (
  select * from samples_alike where id = 6
)
select b.id, alike.containment(b.sketch, a.sketch) as containment
from a
join samples_alike b on b.id <> a.id and b.shingles <= a.shingles
where alike.containment(b.sketch, a.sketch) >= 0.8
order by containment desc, b.id;
