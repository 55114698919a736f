-- Passages of which one half comes from the Psalms, by length: how far are the
-- estimates off, and how many are 0 or, without a sample, NULL?
select words, count(*) as passages, printf('%.2f', avg(exact)) as exact,
    printf('%.2f', avg(abs(mod16 - exact))) as "mod=16 off by",
    printf('%.0f %%', 100 * avg(coalesce(mod16, 0) = 0)) as "0 or none",
    printf('%.2f', avg(abs(scaled - exact))) as "scaled off by",
    printf('%.0f %%', 100 * avg(coalesce(scaled, 0) = 0)) as "0 or none "
from (
    select cast(p.name as integer) as words,
        alike_containment(p.whole, b.whole) as exact,
        alike_containment(p.mod16, b.mod16) as mod16,
        alike_containment(p.scaled, b.scaled) as scaled
    from document p join document b on b.kind = 'book' and b.name = p.book
    where p.kind = 'passage'
)
group by words;
