-- The registry of a database: the profiles by number, and what is attached.
CREATE TABLE IF NOT EXISTS {{.Schema}}.alike_settings(
  id INTEGER PRIMARY KEY,
  profile TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS {{.Schema}}.alike_attachment(
  name TEXT NOT NULL COLLATE NOCASE,
  state TEXT NOT NULL CHECK (state IN ('filling', 'ready', 'next')), -- next: being built beside the one in use
  "table" TEXT NOT NULL COLLATE NOCASE,
  "column" TEXT NOT NULL,
  profile INTEGER NOT NULL REFERENCES alike_settings(id),
  si TEXT NOT NULL,
  policy TEXT NOT NULL,
  at_least REAL, -- NULL: the half point of the profile
  mode TEXT NOT NULL,
  "where" TEXT,
  extract TEXT NOT NULL,
  generation INTEGER NOT NULL, -- of the side table; its indexes are named after it
  stamp INTEGER NOT NULL, -- another whenever anything here changes
  attached_at INTEGER NOT NULL,
  PRIMARY KEY (name, state)
);
CREATE TABLE IF NOT EXISTS {{.Schema}}.alike_error(
  name TEXT NOT NULL COLLATE NOCASE,
  key NOT NULL,
  message TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  failed_at INTEGER NOT NULL,
  PRIMARY KEY (name, key)
);
