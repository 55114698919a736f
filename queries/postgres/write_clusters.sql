-- Computes the clusters of attachment $1 integer afresh where they are kept.
select alike._write_clusters(a) from alike.attachment a where a.id = $1 and alike._side(a, '_cluster') is not null
