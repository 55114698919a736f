-- The settings under which a key has one spelling as text, for this session: the
-- triggers and functions of Alike spell keys under the same ones. The last one holds where
-- the role or the database has another, under which to read a table with a policy is an error.
select
  set_config('timezone', 'UTC', false),
  set_config('datestyle', 'ISO, YMD', false),
  set_config('intervalstyle', 'postgres', false),
  set_config('extra_float_digits', '1', false),
  set_config('bytea_output', 'hex', false),
  set_config('row_security', 'on', false)
