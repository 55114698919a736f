-- Takes keys $1 text[] out of the clusters that are kept.
delete from {cluster} where key = any ($1::text[])
