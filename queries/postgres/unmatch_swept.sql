-- Forgets the matches of rows that have no side row any more. The keys are read first, since
-- Citus compares a row with rows of other nodes only where it has brought them together.
with here as materialized (select {keys_s} from {side} s)
delete from {match} m where not exists (select from here s where ({keys_s}) = ({keys_m}))
