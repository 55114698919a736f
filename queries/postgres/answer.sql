-- Answers request $1 bigint with a sketch $2 bytea, or an error $3 text.
update alike.request set answered_at = clock_timestamp(), sketch = $2, error = $3, document = '' where id = $1
