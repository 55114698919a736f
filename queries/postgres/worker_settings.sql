-- The worker's settings for this session, in milliseconds: $1 bigint is the longest
-- statement, $2 bigint the longest wait for a lock, $3 bigint how long a transaction
-- may be idle. Names are found in pg_catalog alone. Many short statements gain
-- nothing from a compiler.
select
  set_config('statement_timeout', $1::bigint::text, false),
  set_config('lock_timeout', $2::bigint::text, false),
  set_config('idle_in_transaction_session_timeout', $3::bigint::text, false),
  set_config('search_path', 'pg_catalog', false),
  set_config('client_encoding', 'UTF8', false),
  set_config('jit', 'off', false)
