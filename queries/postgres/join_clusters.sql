-- Puts rows $2 text[] of attachment $1 integer into the clusters that are kept.
select alike._join_clusters(a, $2::text[]) from alike.attachment a where a.id = $1
