-- What there is, and what its sketches take.
select kind, count(*) as documents, cast(avg(length(body)) as integer) as "bytes each",
    cast(avg(length(whole)) as integer) as "all shingles",
    cast(avg(length(mod16)) as integer) as "mod=16",
    cast(avg(length(scaled)) as integer) as scaled
from document
where kind <> 'passage'
group by kind order by kind;
