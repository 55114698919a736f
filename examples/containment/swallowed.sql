-- The files that are in another file, half of them and more.
select a.name as document, b.name as "is in",
    printf('%.2f', alike_containment(a.whole, b.whole)) as exact,
    printf('%.2f', alike_containment(a.mod16, b.mod16)) as "mod=16",
    printf('%.2f', alike_containment(a.scaled, b.scaled)) as scaled,
    printf('%.2f', alike_resemblance(a.whole, b.whole)) as resemblance
from document a join document b on b.kind = a.kind and b.id <> a.id
where a.kind = 'file' and alike_containment(a.scaled, b.scaled) >= 0.5
order by a.id, b.id;
