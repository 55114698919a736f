-- The rows contained in row 6, eight tenths and more: id, containment. It reads
-- the sketches of the attachment "samples", whose profile (mod or scaled) has
-- containment; no feature finds a short document in a long one, so no index on one helps.
select b.id, alike_containment(b.sketch, a.sketch) as containment
from samples_alike a
join samples_alike b not indexed on b.id <> a.id and b.shingles <= a.shingles
where a.id = 6 and alike_containment(b.sketch, a.sketch) >= 0.8
order by containment desc, b.id;
