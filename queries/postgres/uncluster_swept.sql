-- Takes rows that have no side row any more out of the clusters that are kept.
delete from {cluster} c where not exists (select from {side} s where {text_s} = c.key)
