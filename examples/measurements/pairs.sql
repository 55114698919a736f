-- Who could be whom? In weighted resemblance an element counts with its weight.
with pair as (select a.id as one, b.id as other from person a join person b on b.id > a.id),
exact as (
    select one, other, sum(both * 1.0) / count(*) as plain, sum(both * weight) / sum(weight) as weighted
    from (
        select one, other, element, max(weight) as weight, count(*) = 2 as both
        from pair join element on element.id in (one, other)
        group by one, other, element
    )
    group by one, other
)
select one || ' and ' || other as people,
    printf('%.2f', exact.plain) as "exact, unweighted", printf('%.2f', alike_resemblance(a.plain, b.plain)) as "168 minima",
    printf('%.2f', exact.weighted) as "exact, weighted", printf('%.2f', alike_resemblance(a.weighted, b.weighted)) as "168 samples",
    printf('%.2f', alike_resemblance(a.repeated, b.repeated)) as "168 minima, repeated"
from exact join person_sketch a on a.id = one join person_sketch b on b.id = other
order by exact.weighted desc, one, other;
