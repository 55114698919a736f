-- For COPY: the attached rows of a chunk: the columns of the key, the
-- hash and profile of the sketch (0 when that is damaged), the key as text, the document's media type, its
-- size, and the document, NULL where it has more bytes than a limit. The query
-- repeats the range for the side table, because the planner does not infer it and would
-- read the whole side table for every chunk.
select {keys_d}, s.content_hash, case when {damaged_s} then 0::smallint else s.profile end, {text_d}, d.alike_media, octet_length(d.alike_document)::bigint,
  case when octet_length(d.alike_document) <= {limit} then d.alike_document end
from ({rows}) d
left join {side} s on {same} and {range_s}
where {range_d}
order by {keys_d}
