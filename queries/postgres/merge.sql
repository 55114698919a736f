-- Does a step of moving or merging the entries of attachments in the layout parts: the number
-- of entries that it has copied, and NULL when there is nothing to do now.
select alike._merge()
