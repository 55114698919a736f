-- The documents of keys $1 text[]: the key's number from 1, the key as the side table
-- spells it, or the table where it is not there yet, the document, its size, media type and
-- version, and the hash and profile of its sketch, 0 when that is damaged. The document is NULL where it has more
-- than $2 bigint bytes, or where those before it and itself have more than $3 bigint. A
-- row that is not in the table is missing. They come in the order of the keys, in which all
-- workers write.
select n, known,
  case when size <= $2::bigint and sum(case when size <= $2::bigint then size end) over (order by n) <= $3::bigint then alike_document end,
  size, alike_media, alike_version, content_hash, profile
from (
  select k.n, case when s.profile is null then {text_d} else {text_s} end as known, d.alike_document, octet_length(d.alike_document)::bigint as size, d.alike_media, d.alike_version, s.content_hash, case when {damaged_s} then 0::smallint else s.profile end as profile
  from unnest($1::text[]) with ordinality as k(key, n)
  join ({rows}) d on {is_d}
  left join {side} s on {same}
) q
order by n
