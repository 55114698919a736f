-- Waits until no other worker writes the side table, and keeps them from it: a row
-- that was written since the sweep began to look would be taken for one without a
-- document.
lock table {side} in share row exclusive mode
