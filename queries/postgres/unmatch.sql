-- Forgets what keys $1 text[] resembled when they were checked in.
delete from {match} m where ({keys_m}) in (select {values} from unnest($1::text[]) as k(key))
