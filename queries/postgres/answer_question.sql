-- Answers question $1 bigint with $2 text, the answer as JSON, or an error $3 text.
update alike.question set answered_at = clock_timestamp(), answer = $2::text::jsonb, error = $3, documents = '{}' where id = $1
