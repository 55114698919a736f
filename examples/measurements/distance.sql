-- Two measurements of one thing, 20.0 and a little more. Each becomes the cells
-- within 2 of it on a scale of 0.05, and the two sets resemble each other by
-- (4-d)/(4+d).
with distance(d) as (values (0), (0.1), (0.3), (0.5), (1), (1.5), (2), (3), (4)),
one as (select cell from alike_cells(20, 2, 0.05)),
other as (select d, cell from distance, alike_cells(20 + d, 2, 0.05))
select d as "apart by", count(*) as cells,
    printf('%.2f', (4 - d) / (4.0 + d)) as formula,
    printf('%.2f', 1.0 * sum(cell in one) / (count(*) + (select count(*) from one) - sum(cell in one))) as exact,
    printf('%.2f', alike_resemblance(alike_sketch_set(cell), (select alike_sketch_set(cell) from one))) as "168 minima"
from other
group by d;
