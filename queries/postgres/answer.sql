-- Answers request $1 bigint with a sketch $2 bytea of $5 bigint shingles, or an error $3 text,
-- and where they are kept the values of its passages $4 bigint[].
update alike.request set answered_at = clock_timestamp(), sketch = $2, error = $3, passages = $4, shingles = $5, document = '' where id = $1
