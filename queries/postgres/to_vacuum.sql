-- The table of newest entries, as SQL spells it, that a vacuum would make small again; NULL
-- when there is none.
select alike._to_vacuum()
