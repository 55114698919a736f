-- The registry of a database: by number the profiles, each with the fingerprint of the
-- tokens that a build of Alike makes for it, the lists of shingles that profiles leave out,
-- and what is attached.
CREATE TABLE IF NOT EXISTS {{.Schema}}.alike_settings(
  id INTEGER PRIMARY KEY,
  profile TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  UNIQUE (profile, tokens)
){{.Next}}
CREATE TABLE IF NOT EXISTS {{.Schema}}.alike_boilerplate(
  list INTEGER PRIMARY KEY, -- as the setting without of a profile names it
  shingles BLOB NOT NULL
){{.Next}}
CREATE TABLE IF NOT EXISTS {{.Schema}}.alike_attachment(
  name TEXT NOT NULL COLLATE NOCASE,
  state TEXT NOT NULL CHECK (state IN ('filling', 'ready', 'next')), -- next: being built beside the one in use
  "table" TEXT NOT NULL COLLATE NOCASE,
  "column" TEXT NOT NULL,
  profile INTEGER NOT NULL REFERENCES alike_settings(id),
  si TEXT NOT NULL,
  policy TEXT NOT NULL,
  at_least REAL, -- NULL: the threshold of the preset, or else of the filter
  mode TEXT NOT NULL,
  "where" TEXT,
  extract TEXT NOT NULL,
  generation INTEGER NOT NULL, -- of the side table; its indexes are named after it
  stamp INTEGER NOT NULL, -- another whenever anything here changes
  matches INTEGER NOT NULL, -- how many a checkin records
  verify TEXT NOT NULL, -- sketch or text: what decides a pair that the sketches leave open
  contains INTEGER NOT NULL, -- whether values are kept for the questions on containment
  preset TEXT NOT NULL, -- that the profile builds on
  recall REAL, -- what its filter was chosen to find; NULL where the profile gives k or s
  reason TEXT, -- why attach chose the preset; NULL where it was told
  looked INTEGER, -- how many texts it looked at
  layout TEXT NOT NULL, -- columns or parts: how equal features are found
  clusters INTEGER NOT NULL, -- the most rows of a cluster that is kept; 0 where none are, negative while they wait to be computed
  "by" TEXT NOT NULL, -- resemblance or containment: what the policy acts on
  superfeatures INTEGER NOT NULL, -- whether they are columns
  short_below INTEGER, -- texts of fewer shingles are short,
  short_at_least REAL, -- and their pairs need this; NULL where they need no more than others
  attached_at INTEGER NOT NULL,
  PRIMARY KEY (name, state)
){{.Next}}
CREATE TABLE IF NOT EXISTS {{.Schema}}.alike_error(
  name TEXT NOT NULL COLLATE NOCASE,
  key NOT NULL,
  message TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  failed_at INTEGER NOT NULL,
  PRIMARY KEY (name, key)
){{.Next}}
{{define "register"}}INSERT OR REPLACE INTO {{.Schema}}.alike_attachment
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, CAST(strftime('%s', 'now') AS INTEGER)){{end}}
{{define "clusters_wait"}}UPDATE {{.Schema}}.alike_attachment SET clusters = -abs(clusters) WHERE name = ?1 AND state = 'ready'{{end}}
{{define "clusters_follow"}}UPDATE {{.Schema}}.alike_attachment SET clusters = abs(clusters) WHERE name = ?1 AND state = 'ready'{{end}}
{{define "unregister"}}DELETE FROM {{.Schema}}.alike_attachment WHERE name = ?1{{end}}
{{define "add_profile"}}INSERT OR IGNORE INTO {{.Schema}}.alike_settings(profile, tokens) VALUES (?1, ?2){{end}}
{{define "add_boilerplate"}}INSERT OR IGNORE INTO {{.Schema}}.alike_boilerplate VALUES (?1, ?2){{end}}
{{define "boilerplate"}}SELECT shingles FROM {{.Schema}}.alike_boilerplate WHERE list = ?1{{end}}
{{define "drop_unused_boilerplate"}}DELETE FROM {{.Schema}}.alike_boilerplate WHERE printf('without=%08x', list) NOT IN
(SELECT substr(s.profile, instr(s.profile, 'without='), 16) FROM {{.Schema}}.alike_attachment a JOIN {{.Schema}}.alike_settings s ON s.id = a.profile){{end}}
{{define "profile_id"}}SELECT id FROM {{.Schema}}.alike_settings WHERE profile = ?1 AND tokens = ?2{{end}}
{{define "drop_registry"}}DROP TABLE IF EXISTS {{.Schema}}.alike_error{{.Next}}DROP TABLE IF EXISTS {{.Schema}}.alike_attachment{{.Next}}DROP TABLE IF EXISTS {{.Schema}}.alike_boilerplate{{.Next}}DROP TABLE IF EXISTS {{.Schema}}.alike_settings{{end}}
{{- /* What still needs the registry: attachments, and side tables that a detach has kept. */ -}}
{{define "has_attachments"}}SELECT 1 FROM {{.Schema}}.alike_attachment LIMIT 1{{end}}
{{define "has_side_tables"}}SELECT 1 FROM {{.Schema}}.sqlite_master WHERE type = 'table' AND name LIKE '%\_alike' ESCAPE '\' LIMIT 1{{end}}
{{- /* The tables of the attachments, which are not attached themselves. */ -}}
{{define "is_ours"}}SELECT 1 FROM {{.Schema}}.alike_attachment a WHERE ?1 IN ('alike_settings', 'alike_boilerplate', 'alike_attachment', 'alike_error')
OR substr(?1, 1, length(a.name) + 6) = a.name || '_alike' AND substr(?1, length(a.name) + 7) IN ('', '_next', '_old', '_match', '_mark', '_queue', '_unique', '_unique_old', '_value', '_cluster', '_event') OR substr(?1, 1, length(a.name) + 12) = a.name || '_alike_part_'{{end}}
