-- Replaces the old attachment by the new one, whose side table is filled.
select {switch}()
