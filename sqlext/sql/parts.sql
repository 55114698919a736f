{{- /*
  The layout parts: entries (feature, row) in a few sorted tables, of which the first
  holds what came last and the last holds most. A checkin adds its row to the list part_new and
  to nothing else. When the list is full, it becomes entries of the first table; between,
  each table in turn hands a range of its features down to the next. So a row costs the
  same however many there are, and a step is bounded. All of it is plain SQL in triggers,
  in the transaction of the checkin.

  Where a row that had entries changes or goes, the list keeps its features of before
  (o1, o2, ...), and the first table gets for each an entry that is gone, which hides and
  at last removes the older one below. Of a feature and a row the uppermost entry counts.

  Who reads the entries looks at the side table too, where the features of the row are:
  an entry that is hidden, or of a row in the list, may not be true any more.
*/ -}}
{{define "make_parts"}}CREATE TABLE {{.In (.Part "new")}}(row INTEGER PRIMARY KEY{{range .OldFeatures}}, {{.}} INTEGER{{end}}){{.Next}}
{{- range .Tables}}
CREATE TABLE {{.In .Entries}}(feature INTEGER NOT NULL, row INTEGER NOT NULL, {{if not .Last}}gone INTEGER, {{end}}PRIMARY KEY (feature, row)) WITHOUT ROWID{{.Next}}
{{- end}}
{{- /* How far each table has handed down: up to an entry, in one of the slices of its features. */}}
CREATE TABLE {{.In (.Part "sweep")}}(level INTEGER PRIMARY KEY, slice INTEGER NOT NULL, feature INTEGER NOT NULL, row INTEGER NOT NULL, to_feature INTEGER, to_row INTEGER){{.Next}}
{{- range .Tables}}{{if not .Last}}
INSERT INTO {{.In (.Part "sweep")}} VALUES ({{.Level}}, 0, {{.Least}}, {{.Least}}, NULL, NULL){{.Next}}
{{- end}}{{end}}
{{- range .Tables}}{{if .Last}}
INSERT INTO {{.In .Entries}}(feature, row) SELECT {{.FeatureOf "d" "f"}}, d.{{.Row}} FROM {{.In .Side}} d CROSS JOIN {{.Slots}} WHERE ({{.FeatureOf "d" "f"}}) IS NOT NULL ORDER BY 1, 2
ON CONFLICT (feature, row) DO NOTHING{{.Next}}
{{- end}}{{end}}
CREATE TRIGGER {{.In (.Part "insert")}} AFTER INSERT ON {{.Side}} WHEN new.sketch IS NOT NULL BEGIN
  INSERT INTO {{.Part "new"}}(row) VALUES (new.{{.Row}}) ON CONFLICT (row) DO NOTHING;
END{{.Next}}
CREATE TRIGGER {{.In (.Part "update")}} AFTER UPDATE ON {{.Side}} WHEN (new.{{.Row}}, {{.FeatureList "new"}}) IS NOT (old.{{.Row}}, {{.FeatureList "old"}}) BEGIN
  INSERT INTO {{.Part "new"}}(row, {{.OldList ""}}) VALUES (old.{{.Row}}, {{.FeatureList "old"}}) ON CONFLICT (row) DO NOTHING;
  INSERT INTO {{.Part "new"}}(row) SELECT new.{{.Row}} WHERE new.{{.Row}} <> old.{{.Row}} ON CONFLICT (row) DO NOTHING;
END{{.Next}}
CREATE TRIGGER {{.In (.Part "delete")}} AFTER DELETE ON {{.Side}} WHEN old.sketch IS NOT NULL BEGIN
  INSERT INTO {{.Part "new"}}(row, {{.OldList ""}}) VALUES (old.{{.Row}}, {{.FeatureList "old"}}) ON CONFLICT (row) DO NOTHING;
END{{.Next}}
{{- range .Tables}}{{if .First}}
CREATE TRIGGER {{.In (.Part "full")}} AFTER INSERT ON {{.Part "new"}} WHEN (SELECT count(*) FROM {{.Part "new"}}) >= {{.Listed}} BEGIN
  INSERT INTO {{.Entries}}(feature, row, gone) SELECT {{.FeatureOf "p" "o"}}, p.row, 1 FROM {{.Part "new"}} p CROSS JOIN {{.Slots}} WHERE ({{.FeatureOf "p" "o"}}) IS NOT NULL ORDER BY 1
  ON CONFLICT (feature, row) DO UPDATE SET gone = excluded.gone;
  INSERT INTO {{.Entries}}(feature, row, gone) SELECT {{.FeatureOf "d" "f"}}, p.row, NULL FROM {{.Part "new"}} p CROSS JOIN {{.Side}} d ON d.{{.Row}} = p.row CROSS JOIN {{.Slots}} WHERE ({{.FeatureOf "d" "f"}}) IS NOT NULL ORDER BY 1
  ON CONFLICT (feature, row) DO UPDATE SET gone = excluded.gone;
  DELETE FROM {{.Part "new"}};
END{{.Next}}
{{- end}}{{if not .Last}}
CREATE TRIGGER {{.In (.Part (print "step_" .Level))}} AFTER INSERT ON {{.Part "new"}} WHEN (SELECT count(*) FROM {{.Part "new"}}) = {{.StepAt}} BEGIN
  UPDATE {{.Part "sweep"}} SET to_feature = (slice - {{.HalfSlices}}) * {{.Width}} + {{.WidthLess1}}, to_row = {{.Greatest}} WHERE level = {{.Level}};
{{- /* No more at once than this: very many rows can share a feature. */}}
  UPDATE {{.Part "sweep"}} SET (to_feature, to_row) = (SELECT feature, row FROM {{.Entries}} e WHERE {{template "ahead" .}} ORDER BY feature, row LIMIT 1 OFFSET {{.Most}})
  WHERE level = {{.Level}} AND (SELECT count(*) FROM (SELECT 1 FROM {{.Entries}} e WHERE {{template "ahead" .}} LIMIT {{.Most}} + 1)) > {{.Most}};
{{- if .Below.Last}}
  DELETE FROM {{.Below.Entries}} WHERE (feature, row) IN (SELECT feature, row FROM (SELECT e.feature, e.row, e.gone FROM {{template "handed" .}}) WHERE gone = 1);
  INSERT INTO {{.Below.Entries}}(feature, row) SELECT e.feature, e.row FROM {{template "handed" .}} AND e.gone IS NULL
  ON CONFLICT (feature, row) DO NOTHING;
{{- else}}
  INSERT INTO {{.Below.Entries}}(feature, row, gone) SELECT e.feature, e.row, e.gone FROM {{template "handed" .}}
  ON CONFLICT (feature, row) DO UPDATE SET gone = excluded.gone;
{{- end}}
  DELETE FROM {{.Entries}} WHERE (feature, row) IN (SELECT feature, row FROM (SELECT e.feature, e.row FROM {{template "handed" .}}));
  UPDATE {{.Part "sweep"}} SET slice = CASE WHEN to_row = {{.Greatest}} THEN (slice + 1) % {{.Slices}} ELSE slice END,
    feature = CASE WHEN to_row = {{.Greatest}} AND slice = {{.Slices}} - 1 THEN {{.Least}} ELSE to_feature END,
    row = CASE WHEN to_row = {{.Greatest}} AND slice = {{.Slices}} - 1 THEN {{.Least}} ELSE to_row END WHERE level = {{.Level}};
END{{.Next}}
{{- end}}{{end}}{{end}}
{{define "ahead"}}(e.feature >= {{.Part "sweep"}}.feature AND e.feature <= {{.Part "sweep"}}.to_feature) AND (e.feature, e.row) > ({{.Part "sweep"}}.feature, {{.Part "sweep"}}.row){{end}}
{{define "handed"}}{{.Part "sweep"}} s CROSS JOIN {{.Entries}} e WHERE s.level = {{.Level}} AND ((e.feature >= s.feature AND e.feature <= s.to_feature) AND ((e.feature, e.row) > (s.feature, s.row) AND (e.feature, e.row) <= (s.to_feature, s.to_row))){{end}}

{{- /* How many rows are listed, and how far each table is in the round in which it hands all its slices down. */ -}}
{{define "progress_of_parts"}}SELECT (SELECT count(*) FROM {{.In (.Part "new")}}), level, slice FROM {{.In (.Part "sweep")}} ORDER BY level{{end}}

{{define "objects_of_parts"}}SELECT type, name FROM {{.Schema}}.sqlite_master WHERE type IN ('table', 'trigger') AND name LIKE '%\_alike\_part\_%' ESCAPE '\' ORDER BY type DESC{{end}}

{{- /* The features as plain SQL sees them. The view of pairs is asked by the first key. */ -}}
{{define "views_of_parts"}}CREATE VIEW {{.In (.Object "pair")}}({{.Keys.List ""}}, {{.Keys.Others ""}}, slot) AS
{{.Arms "pairs_of_part" "pairs_of_list"}}{{.Next}}
CREATE VIEW {{.In (.Object "feature")}}({{.Keys.List ""}}, slot, feature) AS
{{.Arms "features_of_part" "features_of_list"}}{{end}}
{{- /* Not where the row is in the list, or a table above has the entry too. */ -}}
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

{{- /* As the probe of the layout columns, and rows that share nothing. */ -}}
{{define "probe_of_parts"}}SELECT d.{{.Row}}, {{.SharedWithGiven "d"}} FROM (SELECT DISTINCT row FROM ({{.Arms "rows_of_part" "rows_of_list"}})) c CROSS JOIN {{.In .Side}} d ON d.{{.Row}} = c.row{{end}}
{{define "rows_of_part"}}SELECT row FROM {{.In .Entries}} WHERE feature IN ({{.Given}}){{end}}
{{define "rows_of_list"}}SELECT row FROM {{.In (.Part "new")}}{{end}}

{{- /* The features of all slots in order; a row can come twice. */ -}}
{{define "runs_of_parts"}}{{.Arms "runs_of_part" "runs_of_list"}} ORDER BY 1{{end}}
{{define "runs_of_part"}}SELECT feature, row FROM {{.In .Entries}}{{if not .Last}} WHERE gone IS NULL{{end}}{{end}}
{{define "runs_of_list"}}SELECT {{.FeatureOf "d" "f"}}, d.{{.Row}} FROM {{.In (.Part "new")}} p CROSS JOIN {{.In .Side}} d ON d.{{.Row}} = p.row CROSS JOIN {{.Slots}} WHERE ({{.FeatureOf "d" "f"}}) IS NOT NULL{{end}}

{{define "newest_of_slot"}}SELECT d.{{.Row}} AS this FROM {{.Side}} x CROSS JOIN {{.Side}} d WHERE ({{.Keys.Is "x" .Event}}) AND (d.{{.Row}} IN ({{.ArmsOfTables "newest_of_part"}}) AND (d.{{.Item}} = x.{{.Item}} AND d.{{.Row}} <> x.{{.Row}})){{end}}
{{define "newest_of_part"}}SELECT row FROM (SELECT row FROM {{.Entries}} WHERE feature = x.{{.Item}} ORDER BY row DESC LIMIT {{.Newest}}){{end}}
{{define "newest_of_list"}}SELECT d.{{.Row}} AS this FROM {{.Side}} x CROSS JOIN {{.Part "new"}} p CROSS JOIN {{.Side}} d WHERE ({{.Keys.Is "x" .Event}}) AND ((d.{{.Row}} = p.row AND d.{{.Row}} <> x.{{.Row}}) AND {{.Shares "x" "d"}}){{end}}
