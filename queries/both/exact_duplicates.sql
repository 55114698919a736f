-- Rows with the same document, byte by byte: content_hash, id, first, the first row
-- of them. Rows without a document are not duplicates of each other.
select content_hash, id, first
from (
  select content_hash, id, min(id) over same as first, count(*) over same as copies
  from documents_alike
  where sketch is not null
  window same as (partition by content_hash)
) d
where copies > 1
order by first, id;
