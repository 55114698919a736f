-- Removes the side rows of all keys that are not in the table.
delete from {side} s where not exists (select from ({rows}) d where {same})
