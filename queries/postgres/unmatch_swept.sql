-- Forgets the matches in which a row stands that has no side row any more.
delete from {match} m
where not exists (select from {side} s where ({keys_s}) = ({keys_m})) or not exists (select from {side} s where ({keys_s}) = ({others_m}))
