-- Forgets the matches with rows that have no side row any more.
with here as materialized (select {keys_s} from {side} s)
delete from {match} m where not exists (select from here s where ({keys_s}) = ({others_m}))
