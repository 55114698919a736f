-- Answers request $1 bigint with a sketch $2 bytea, or an error $3 text, and
-- where they are kept the values of its passages $4 bigint[] and its shingles $5 bigint.
update alike.request set answered_at = clock_timestamp(), sketch = $2, error = $3, passages = $4, shingles = $5, document = '' where id = $1
