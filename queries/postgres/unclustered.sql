-- Of keys $1 text[] those that are in no cluster.
select k.key from unnest($1::text[]) as k(key)
where not exists (select from {cluster} c where c.key = k.key)
