-- Forgets which rows resembled keys $1 text[] when those rows were checked in.
delete from {match} m where ({others_m}) in (select {values} from unnest($1::text[]) as k(key))
