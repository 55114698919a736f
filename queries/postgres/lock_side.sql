-- Waits until no other worker writes the side table, and locks them out. Otherwise the sweep
-- would take a row that is written after it began to look for a row without a document.
lock table {side} in share row exclusive mode
