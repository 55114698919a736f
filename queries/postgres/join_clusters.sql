-- Puts rows $2 text[] of attachment $1 integer into the clusters that are kept, and tells what
-- became of those in components $3 bigint[], which were left.
select alike._join_clusters(a, $2::text[], $3::bigint[]) from alike.attachment a where a.id = $1
