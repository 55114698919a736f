-- What people said about pairs, in both orders: key, other, whether they are duplicates.
select {text_m}, {text_others_m}, m.verdict = 'duplicate' from {mark} m
union all
select {text_others_m}, {text_m}, m.verdict = 'duplicate' from {mark} m
