-- Each upload and the song of the catalogue that resembles it most; what the
-- cells and the rounded numbers say exactly about the song that it is.
with ranked as (
    select u.id, c.id as song, alike_resemblance(u.sketch, c.sketch) as estimate,
        row_number() over (partition by u.id order by alike_resemblance(u.sketch, c.sketch) desc, c.id) as place
    from recording u join recording c on c.version = 'catalogue'
    where u.version <> 'catalogue'
), judged as (
    select u.version, first.song = u.song as right, first.estimate, second.estimate as next,
        (select 1.0 * count(*) / (u.cells + c.cells - count(*))
         from cell a join cell b on b.recording = c.id and b.cell = a.cell where a.recording = u.id) as exact,
        (select 1.0 * count(*) / (u.points + c.points - count(*))
         from rounded a join rounded b on b.recording = c.id and b.point = a.point where a.recording = u.id) as rounded
    from recording u
    join recording c on c.version = 'catalogue' and c.song = u.song
    join ranked first on first.id = u.id and first.place = 1
    join ranked second on second.id = u.id and second.place = 2
)
select version as upload, count(*) as uploads, sum(right) as "right song",
    printf('%.2f', avg(exact)) as "cells, exact", printf('%.2f', avg(estimate)) as "168 minima",
    printf('%.2f', avg(abs(estimate - exact))) as "off by", printf('%.2f', avg(next)) as "next song",
    printf('%.2f', avg(rounded)) as "rounded, exact"
from judged
group by version
order by avg(exact) desc;
