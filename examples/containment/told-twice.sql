-- Chapters that stand in another book too, two fifths of them and more. The
-- samples choose the pairs, generously, and all shingles decide.
select c.name as chapter, b.name as "is in",
    printf('%.2f', alike_containment(c.whole, b.whole)) as exact,
    printf('%.2f', alike_containment(c.mod16, b.mod16)) as "mod=16",
    printf('%.2f', alike_containment(c.scaled, b.scaled)) as scaled
from document c join document b on b.kind = 'book' and b.name <> c.book
where c.kind = 'chapter' and alike_containment(c.mod16, b.mod16) >= 0.2
    and alike_containment(c.whole, b.whole) >= 0.4
order by alike_containment(c.whole, b.whole) desc, c.id;
