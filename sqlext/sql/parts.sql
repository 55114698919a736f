{{- /*
  The layout parts keeps entries (feature, row) in a few sorted tables. The first table holds
  the newest entries, the last table most of them. A checkin only adds its row to the list
  part_new. When the list is full, its rows become entries of the first table. At other
  checkins each table in turn hands a range of its features down to the next table. So the
  cost of a checkin does not grow with the number of rows, and each step is bounded. Triggers
  of plain SQL do all of this in the transaction of the checkin.

  When a row that had entries is changed or deleted, the list keeps its former features
  (o1, o2, ...). For each of them the first table gets an entry marked gone, which hides the
  older entry below and finally removes it. The uppermost entry of a feature and a row counts.

  A query that reads the entries also compares the features in the side table: an entry that
  is hidden, or whose row is in the list, may be out of date.
*/ -}}
{{define "make_parts"}}CREATE TABLE {{.In (.Part "new")}}(row INTEGER PRIMARY KEY{{range .OldFeatures}}, {{.}} INTEGER{{end}}){{.Next}}
{{- range .Tables}}
CREATE TABLE {{.In .Entries}}(feature INTEGER NOT NULL, row INTEGER NOT NULL, {{if not .Last}}gone INTEGER, {{end}}PRIMARY KEY (feature, row)) WITHOUT ROWID{{.Next}}
{{- end}}
{{- /* The last entry that each table has handed down, and the slice of the features that it is in. */}}
CREATE TABLE {{.In (.Part "sweep")}}(level INTEGER PRIMARY KEY, slice INTEGER NOT NULL, feature INTEGER NOT NULL, row INTEGER NOT NULL, to_feature INTEGER, to_row INTEGER, due INTEGER){{.Next}}
INSERT INTO {{.In (.Part "sweep")}} VALUES (0, 0, 0, 0, NULL, NULL, NULL){{.Next}}
{{- range .Tables}}{{if not .Last}}
INSERT INTO {{.In (.Part "sweep")}} VALUES ({{.Level}}, 0, {{.MinInt}}, {{.MinInt}}, NULL, NULL, NULL){{.Next}}
{{- end}}{{end}}
{{- range .Tables}}{{if .Last}}
INSERT INTO {{.In .Entries}}(feature, row) SELECT {{.FeatureOf "d" "f"}}, d.{{.Row}} FROM {{.In .Side}} d CROSS JOIN {{.Slots}} WHERE ({{.FeatureOf "d" "f"}}) IS NOT NULL ORDER BY 1, 2
ON CONFLICT (feature, row) DO NOTHING{{.Next}}
{{- end}}{{end}}
{{- /* A checkin calls a function for its steps, so that SQLite does not compile all of them with each INSERT. A deletion and a new key must not need the extension. */}}
CREATE TRIGGER {{.In (.Part "insert")}} AFTER INSERT ON {{.Side}} WHEN new.sketch IS NOT NULL AND {{template "unlisted" (.At "new")}} BEGIN
  INSERT INTO {{.Part "new"}}(row) VALUES (new.{{.Row}});
{{- template "call_step" .}}
END{{.Next}}
CREATE TRIGGER {{.In (.Part "update")}} AFTER UPDATE OF {{.FeatureList ""}} ON {{.Side}} WHEN (({{.FeatureList "new"}}) IS NOT ({{.FeatureList "old"}})) AND {{template "unlisted" (.At "new")}} BEGIN
  INSERT INTO {{.Part "new"}}(row, {{.OldList ""}}) VALUES (old.{{.Row}}, {{.FeatureList "old"}}) ON CONFLICT (row) DO NOTHING;
{{- template "call_step" .}}
END{{.Next}}
{{- if not .OwnRow}}
CREATE TRIGGER {{.In (.Part "move")}} AFTER UPDATE OF {{.Keys.List ""}} ON {{.Side}} WHEN new.{{.Row}} <> old.{{.Row}} BEGIN
  INSERT INTO {{.Part "new"}}(row, {{.OldList ""}}) VALUES (old.{{.Row}}, {{.FeatureList "old"}}) ON CONFLICT (row) DO NOTHING;
  {{template "step" .}};
  INSERT INTO {{.Part "new"}}(row) VALUES (new.{{.Row}}) ON CONFLICT (row) DO NOTHING;
  {{template "step" .}};
END{{.Next}}
{{- end}}
CREATE TRIGGER {{.In (.Part "delete")}} AFTER DELETE ON {{.Side}} WHEN old.sketch IS NOT NULL AND {{template "unlisted" (.At "old")}} BEGIN
  INSERT INTO {{.Part "new"}}(row, {{.OldList ""}}) VALUES (old.{{.Row}}, {{.FeatureList "old"}});
  {{template "step" .}};
END{{.Next}}
{{- range .Tables}}{{if .First}}
CREATE TRIGGER {{.In (.Part "full")}} AFTER UPDATE OF due ON {{.Part "sweep"}} WHEN new.level = 0 BEGIN
  INSERT INTO {{.Entries}}(feature, row, gone) SELECT {{.FeatureOf "p" "o"}}, p.row, 1 FROM {{.Part "new"}} p CROSS JOIN {{.Slots}} WHERE ({{.FeatureOf "p" "o"}}) IS NOT NULL ORDER BY 1
  ON CONFLICT (feature, row) DO UPDATE SET gone = excluded.gone;
  INSERT INTO {{.Entries}}(feature, row, gone) SELECT {{.FeatureOf "d" "f"}}, p.row, NULL FROM {{.Part "new"}} p CROSS JOIN {{.Side}} d ON d.{{.Row}} = p.row CROSS JOIN {{.Slots}} WHERE ({{.FeatureOf "d" "f"}}) IS NOT NULL ORDER BY 1
  ON CONFLICT (feature, row) DO UPDATE SET gone = excluded.gone;
  DELETE FROM {{.Part "new"}};
END{{.Next}}
{{- end}}{{if not .Last}}
CREATE TRIGGER {{.In (.Part (print "step_" .Level))}} AFTER UPDATE OF due ON {{.Part "sweep"}} WHEN new.level = {{.Level}} BEGIN
{{- /* The slices that this step hands down: one in a large table, and more in a small one, whose rows the entries of many updates would outgrow. */}}
  UPDATE {{.Part "sweep"}} SET to_feature = max(1, {{.RowsForSlices}} / max(1, coalesce((SELECT max({{.Row}}) FROM {{.Side}}), 1))) WHERE level = {{.Level}};
  UPDATE {{.Part "sweep"}} SET to_feature = (min(slice + to_feature, {{.Slices}}) - 1 - {{.HalfSlices}}) * {{.Width}} + {{.WidthLess1}}, to_row = {{.MaxInt}} WHERE level = {{.Level}};
{{- /* This bounds a step: very many rows can share a feature. */}}
  UPDATE {{.Part "sweep"}} SET (to_feature, to_row) = (SELECT feature, row FROM {{.Entries}} e WHERE {{template "ahead" .}} ORDER BY feature, row LIMIT 1 OFFSET {{.MaxEntries}})
  WHERE level = {{.Level}} AND (SELECT count(*) FROM (SELECT 1 FROM {{.Entries}} e WHERE {{template "ahead" .}} LIMIT {{.MaxEntries}} + 1)) > {{.MaxEntries}};
{{- if .Below.Last}}
  DELETE FROM {{.Below.Entries}} WHERE (feature, row) IN (SELECT feature, row FROM (SELECT e.feature, e.row, e.gone FROM {{template "handed" .}}) WHERE gone = 1);
  INSERT INTO {{.Below.Entries}}(feature, row) SELECT e.feature, e.row FROM {{template "handed" .}} AND e.gone IS NULL
  ON CONFLICT (feature, row) DO NOTHING;
{{- else}}
  INSERT INTO {{.Below.Entries}}(feature, row, gone) SELECT e.feature, e.row, e.gone FROM {{template "handed" .}}
  ON CONFLICT (feature, row) DO UPDATE SET gone = excluded.gone;
{{- end}}
  DELETE FROM {{.Entries}} WHERE (feature, row) IN (SELECT feature, row FROM (SELECT e.feature, e.row FROM {{template "handed" .}}));
  UPDATE {{.Part "sweep"}} SET slice = CASE WHEN to_row = {{.MaxInt}} THEN ({{template "slice_reached" .}} + 1) % {{.Slices}} ELSE slice END,
    feature = CASE WHEN to_row = {{.MaxInt}} AND {{template "slice_reached" .}} = {{.Slices}} - 1 THEN {{.MinInt}} ELSE to_feature END,
    row = CASE WHEN to_row = {{.MaxInt}} AND {{template "slice_reached" .}} = {{.Slices}} - 1 THEN {{.MinInt}} ELSE to_row END WHERE level = {{.Level}};
END{{.Next}}
{{- end}}{{end}}{{end}}
{{define "unlisted"}}(SELECT row FROM {{.Part "new"}} WHERE row = {{.Event}}.{{.Row}}) IS NULL{{end}}
{{define "call_step"}}
  SELECT alike__step({{text .Name}}, {{.Stamp}}, new.{{.Row}}) WHERE (SELECT count(*) FROM {{.Part "new"}}) % {{.Every}} = 0;
{{- end}}
{{- /* Makes the list entries if it is full, or lets a table hand a range down when it is the table's turn. */ -}}
{{define "step"}}UPDATE {{.Part "sweep"}} SET due = 1 WHERE level = (SELECT CASE WHEN count(*) >= {{.Listed}} THEN 0 WHEN count(*) % {{.Every}} = 0 THEN count(*) / {{.Every}} END FROM {{.Part "new"}}){{end}}
{{define "take_step"}}{{template "step" (.At "?")}}{{end}}
{{define "is_listed"}}SELECT 1 FROM {{.In (.Part "new")}} WHERE row = ?1{{end}}
{{define "slice_reached"}}((to_feature - {{.WidthLess1}}) / {{.Width}} + {{.HalfSlices}}){{end}}
{{define "ahead"}}(e.feature >= {{.Part "sweep"}}.feature AND e.feature <= {{.Part "sweep"}}.to_feature) AND (e.feature, e.row) > ({{.Part "sweep"}}.feature, {{.Part "sweep"}}.row){{end}}
{{define "handed"}}{{.Part "sweep"}} s CROSS JOIN {{.Entries}} e WHERE s.level = {{.Level}} AND ((e.feature >= s.feature AND e.feature <= s.to_feature) AND ((e.feature, e.row) > (s.feature, s.row) AND (e.feature, e.row) <= (s.to_feature, s.to_row))){{end}}

{{- /* The length of the list, and for each table the slice that it hands down next. */ -}}
{{define "progress_of_parts"}}SELECT (SELECT count(*) FROM {{.In (.Part "new")}}), level, slice FROM {{.In (.Part "sweep")}} WHERE level > 0 ORDER BY level{{end}}

{{define "objects_of_parts"}}SELECT type, name FROM {{.Schema}}.sqlite_master WHERE type IN ('table', 'trigger') AND name LIKE '%\_alike\_part\_%' ESCAPE '\' ORDER BY type DESC{{end}}

{{- /* The views of the features for plain SQL. The view of pairs is quick for a condition on the first key. */ -}}
{{define "views_of_parts"}}CREATE VIEW {{.In (.Object "pair")}}({{.Keys.List ""}}, {{.Keys.Others ""}}, slot) AS
{{.Arms "pairs_of_part" "pairs_of_list"}}{{.Next}}
CREATE VIEW {{.In (.Object "feature")}}({{.Keys.List ""}}, slot, feature) AS
{{.Arms "features_of_part" "features_of_list"}}{{end}}
{{- /* True unless the row is in the list or a table above has the entry too. */ -}}
{{define "uppermost"}}coalesce((SELECT row FROM {{.Part "new"}} WHERE row = alike__row_of), NULL{{range .Above}}, (SELECT row FROM {{.Entries}} WHERE feature = alike__feature AND row = alike__row_of){{end}}) IS NULL{{end}}
{{define "pairs_of_part"}}SELECT {{.Keys.List ""}}, {{.Keys.Others ""}}, slot FROM (
SELECT {{.Keys.List "a"}}, {{.Keys.OthersAs "b"}}, n.column1 AS slot, e.feature AS alike__feature, e.row AS alike__row_of FROM {{.Side}} a CROSS JOIN {{.Slots}} CROSS JOIN {{.Entries}} e CROSS JOIN {{.Side}} b
WHERE (e.feature = {{.FeatureOf "a" "f"}} AND e.feature = {{.FeatureOf "b" "f"}}) AND (b.{{.Row}} = e.row AND b.{{.Row}} <> a.{{.Row}})) WHERE {{template "uppermost" .}}{{end}}
{{define "pairs_of_list"}}SELECT {{.Keys.List "a"}}, {{.Keys.List "q"}}, n.column1 FROM {{.Side}} a CROSS JOIN {{.Slots}}
CROSS JOIN (SELECT {{.Keys.List "d"}}, d.{{.Row}} AS alike__this, n.column1 AS slot, {{.FeatureOf "d" "f"}} AS feature FROM {{.Part "new"}} p CROSS JOIN {{.Side}} d ON d.{{.Row}} = p.row CROSS JOIN {{.Slots}} LIMIT -1) q
WHERE q.feature = {{.FeatureOf "a" "f"}} AND (q.slot = n.column1 AND q.alike__this <> a.{{.Row}}){{end}}
{{define "features_of_part"}}SELECT {{.Keys.List ""}}, slot, alike__feature AS feature FROM (
SELECT {{.Keys.List "b"}}, n.column1 AS slot, e.feature AS alike__feature, e.row AS alike__row_of FROM {{.Entries}} e JOIN {{.Side}} b JOIN {{.Slots}}
WHERE b.{{.Row}} = e.row AND e.feature = {{.FeatureOf "b" "f"}}) WHERE {{template "uppermost" .}}{{end}}
{{define "features_of_list"}}SELECT {{.Keys.List "b"}}, n.column1, {{.FeatureOf "b" "f"}} FROM {{.Part "new"}} p JOIN {{.Side}} b JOIN {{.Slots}} WHERE b.{{.Row}} = p.row AND ({{.FeatureOf "b" "f"}}) IS NOT NULL{{end}}

{{- /* Like the probe of the layout columns, but it also returns rows that share no feature. */ -}}
{{define "probe_of_parts"}}SELECT d.{{.Row}}, {{.SharedWithGiven "d"}} FROM (SELECT DISTINCT row FROM ({{.Arms "rows_of_part" "rows_of_list"}})) c CROSS JOIN {{.In .Side}} d ON d.{{.Row}} = c.row{{end}}
{{define "rows_of_part"}}SELECT row FROM {{.In .Entries}} WHERE feature IN ({{.Given}}){{end}}
{{define "rows_of_list"}}SELECT row FROM {{.In (.Part "new")}}{{end}}

{{define "state_of_parts"}}SELECT 1 FROM {{.In (.Part "sweep")}}{{end}}
{{- /* The features of each table and of the list, in order. A row can appear twice. */ -}}
{{define "runs_of_parts"}}{{range .Tables}}SELECT feature, row FROM {{.In .Entries}}{{if not .Last}} WHERE gone IS NULL{{end}} ORDER BY feature{{.Next}}{{end -}}
SELECT {{.FeatureOf "d" "f"}}, d.{{.Row}} FROM {{.In (.Part "new")}} p CROSS JOIN {{.In .Side}} d ON d.{{.Row}} = p.row CROSS JOIN {{.Slots}} WHERE ({{.FeatureOf "d" "f"}}) IS NOT NULL ORDER BY 1{{end}}

{{- /* A probe that reads the features of all slots from one subquery compiles in a third of the time that a probe for each feature takes. */ -}}
{{define "newest_of_slots"}}SELECT d.{{.Row}} AS this FROM (SELECT x.{{.Row}} AS alike__this, n.column1, {{.FeatureOf "x" "f"}} AS feature FROM {{.Side}} x CROSS JOIN {{.Slots}} WHERE {{.Keys.Is "x" .Event}} LIMIT -1) n CROSS JOIN {{.Side}} d
WHERE d.{{.Row}} IN ({{.ArmsOfTables "newest_of_part"}}) AND ({{.FeatureOf "d" "f"}} = n.feature AND d.{{.Row}} <> n.alike__this){{end}}
{{define "newest_of_part"}}SELECT row FROM (SELECT row FROM {{.Entries}} WHERE feature = n.feature ORDER BY row DESC LIMIT {{.Newest}}){{end}}
{{define "newest_of_list"}}SELECT d.{{.Row}} AS this FROM {{.Side}} x CROSS JOIN {{.Part "new"}} p CROSS JOIN {{.Side}} d WHERE ({{.Keys.Is "x" .Event}}) AND ((d.{{.Row}} = p.row AND d.{{.Row}} <> x.{{.Row}}) AND {{.Shares "x" "d"}}){{end}}
