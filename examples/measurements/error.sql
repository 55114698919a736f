-- Pairs of sets of forty elements with weights from 0 to 10, by their exact
-- resemblance. The variance is divided by the binomial one of 168 samples.
with sketched as (
    select pair, side, alike_sketch_set(element, weight, 'weighted') as weighted,
        alike_sketch_set(element, whole, 'prose') as repeated
    from weighted_element group by pair, side
), exact as (
    select pair, sum(smaller) / sum(greater) as weighted, 1.0 * sum(whole_smaller) / sum(whole_greater) as repeated
    from (
        select pair, element, case count(*) when 2 then min(weight) else 0 end as smaller, max(weight) as greater,
            case count(*) when 2 then min(whole) else 0 end as whole_smaller, max(whole) as whole_greater
        from weighted_element group by pair, element
    )
    group by pair
), judged as (
    select exact.weighted, exact.repeated,
        alike_resemblance(a.weighted, b.weighted) as estimate, alike_resemblance(a.repeated, b.repeated) as estimate_repeated
    from exact join sketched a on a.pair = exact.pair and a.side = 0 join sketched b on b.pair = exact.pair and b.side = 1
)
select printf('%.1f to %.1f', min(0.8, cast(weighted * 5 as integer) / 5.0), min(0.8, cast(weighted * 5 as integer) / 5.0) + 0.2) as resemblance,
    count(*) as pairs,
    printf('%+.3f', avg(estimate - weighted)) as "weighted: mean error",
    printf('%.2f', avg((estimate - weighted) * (estimate - weighted)) / avg(weighted * (1 - weighted) / 168)) as "variance",
    printf('%+.3f', avg(estimate_repeated - repeated)) as "repeated: mean error",
    printf('%.2f', avg((estimate_repeated - repeated) * (estimate_repeated - repeated)) / avg(repeated * (1 - repeated) / 168)) as "variance "
from judged
group by 1 order by 1;
