-- Every chapter is in its own book, wholly. What do the sketches say?
select sketch, count(*) as chapters, sum(says = 1) as "say 1", sum(says is null) as "say nothing, no sample left"
from (
    select 'mod=16' as sketch, alike_containment(c.mod16, b.mod16) as says
    from document c join document b on b.kind = 'book' and b.name = c.book
    where c.kind = 'chapter'
    union all
    select 'scaled', alike_containment(c.scaled, b.scaled)
    from document c join document b on b.kind = 'book' and b.name = c.book
    where c.kind = 'chapter'
)
group by sketch;
