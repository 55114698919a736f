-- Puts the attachment, whose side table is full, in the place of the one that it
-- replaces.
select {switch}()
