-- Of keys $1 text[] those whose document is not of version $2 text[] any more; NULL
-- is the version of a row that is not there.
select k.key
from unnest($1::text[], $2::text[]) as k(key, version)
left join ({rows}) d on {is_d}
where d.alike_version is distinct from k.version
