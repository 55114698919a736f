-- Takes rows $2 text[] of attachment $1 integer out of the clusters that are kept, before their
-- documents change or go: the components that this touched.
select alike._leave_clusters(a, $2::text[]) from alike.attachment a where a.id = $1
