{{- /*
  The document is read from its table, not from new: a trigger of the user's may
  have changed it since. Nothing here relies on a conflict clause, because that of
  the user's statement overrides it. RAISE(ABORT) is there for the statement
  journal that it makes SQLite keep, so that an error of ours undoes the
  statement and no more; it comes first so that a program without the extension
  reads a name that says what to do.
*/ -}}
{{define "loaded"}}
  SELECT RAISE(ABORT, 'alike: the extension is not loaded') WHERE alike__extension_must_be_loaded() <> 1;
{{- end}}
{{define "replaced"}}{{if .Uniques}}
  DELETE FROM {{.Side}} WHERE ({{.Keys.List ""}}) IN (SELECT {{.Keys.List ""}} FROM {{.Replaced}}) AND NOT EXISTS (SELECT 1 FROM {{.Source}} s WHERE {{.Keys.Same "s" .Side}});
  DELETE FROM {{.Mark}} WHERE ({{.Keys.List ""}}) IN (SELECT {{.Keys.List ""}} FROM {{.Replaced}}) AND NOT EXISTS (SELECT 1 FROM {{.Source}} s WHERE {{.Keys.Same "s" .Mark}});
  DELETE FROM {{.Mark}} WHERE ({{.Keys.Others ""}}) IN (SELECT {{.Keys.List ""}} FROM {{.Replaced}}) AND NOT EXISTS (SELECT 1 FROM {{.Source}} s WHERE {{.Keys.SameOther .Mark "s"}});
  DELETE FROM {{.Replaced}};
{{- end}}{{end}}
{{define "checkin"}}
{{- if or .Where (eq .Mode "queue")}}
  DELETE FROM {{.Side}} WHERE {{.Keys.Is "" .Event}}{{.End}}
{{- end}}
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE {{.Keys.Is "" .Event}}{{.End}}
  INSERT INTO {{.Queue}}({{.Keys.List ""}}, queued_at) SELECT {{.Keys.List "s"}}, CAST(strftime('%s', 'now') AS INTEGER) FROM {{.Source}} s WHERE {{.Keys.Is "s" .Event}}{{.End}}
{{- else}}{{template "compute" .}}{{template "policy" .}}{{end}}
{{- end}}
{{- /* DISTINCT changes nothing but that alike__row is called once, and not for each cell. */ -}}
{{define "computed"}}SELECT DISTINCT {{.Keys.List "s"}}, alike__row(s.document, {{text .RowSettings}}) AS sketch FROM {{.Source}} s{{end}}
{{define "compute"}}
  INSERT INTO {{.Side}}({{.SideColumns}})
  SELECT {{.Keys.List "s"}}, {{.ProfileID}}, {{.RowColumns "s.sketch"}} FROM ({{template "computed" .}} WHERE {{.Keys.Is "s" .Event}}) s WHERE true
  ON CONFLICT ({{.Keys.List ""}}) DO UPDATE SET {{.SetExcluded}}{{.End}}
{{- end}}
{{- /*
  The rows that a checkin compares a with: of each feature the newest that have
  it, and what a person called a duplicate. The bound is for features that a
  great part of the table has, a letterhead or an empty form.
*/ -}}
{{define "candidates"}}{{.Union "newest_with_feature" "first_of_mark" "second_of_mark"}}{{end}}
{{define "newest_with_feature"}}SELECT * FROM (SELECT d.{{.Row}} AS this FROM {{.Side}} x CROSS JOIN {{.Side}} d {{.IndexedBy .Item}} WHERE {{.Keys.Is "x" .Event}} AND (d.{{.Item}} = x.{{.Item}} AND d.{{.Row}} <> x.{{.Row}}) ORDER BY d.{{.Row}} DESC LIMIT {{.Newest}}){{end}}
{{define "first_of_mark"}}SELECT d.{{.Row}} FROM {{.Mark}} v CROSS JOIN {{.Side}} d ON {{.Keys.Same "v" "d"}} WHERE {{.Keys.OtherIs "v" .Event}} AND v.verdict = 'duplicate'{{end}}
{{define "second_of_mark"}}SELECT d.{{.Row}} FROM {{.Mark}} v CROSS JOIN {{.Side}} d ON {{.Keys.SameOther "v" "d"}} WHERE {{.Keys.Is "v" .Event}} AND v.verdict = 'duplicate'{{end}}
{{- /* What a person said about the pair of a and b decides, or else the resemblance. */ -}}
{{define "limit"}}CASE coalesce(v.verdict, w.verdict, '') WHEN 'duplicate' THEN 0 WHEN 'distinct' THEN NULL ELSE {{.Threshold}} END{{end}}
{{- /*
  Joins, and no subqueries in an expression: SQLite adds up the depths of those, and
  its manual recommends to allow no more than ten.
*/ -}}
{{define "alike"}}(SELECT DISTINCT this FROM ({{template "candidates" .}})) c CROSS JOIN {{.Side}} a CROSS JOIN {{.Side}} b
    LEFT JOIN {{.Mark}} v ON ({{.Keys.Same "v" "a"}}) AND {{.Keys.SameOther "v" "b"}}
    LEFT JOIN {{.Mark}} w ON ({{.Keys.Same "w" "b"}}) AND {{.Keys.SameOther "w" "a"}}
  WHERE (({{.Keys.Is "a" .Event}}) AND b.{{.Row}} = c.this) AND alike_resemblance(a.sketch, b.sketch) >= {{template "limit" .}}
{{- end}}
{{define "policy"}}
{{- if eq .Policy "reject"}}
  SELECT alike__reject({{text .Name}}, other, resemblance, {{.Threshold}}) FROM (
  SELECT {{.Keys.Value "b"}} AS other, alike_resemblance(a.sketch, b.sketch) AS resemblance FROM {{template "alike" .}}
  ORDER BY resemblance DESC LIMIT 1){{.End}}
{{- else if or (eq .Policy "link") (eq .Policy "warn")}}
  INSERT INTO {{.Match}}({{.Keys.List ""}}, {{.Keys.Others ""}}, shared, resemblance, low, high, policy, matched_at)
  SELECT {{.Keys.List "a"}}, {{.Keys.List "b"}}, {{.SharedFeatures "a" "b"}}, alike_resemblance(a.sketch, b.sketch), alike__low(a.sketch, b.sketch), alike__high(a.sketch, b.sketch), {{text .Policy}}, a.sketched_at FROM {{template "alike" .}}{{.End}}
{{- if eq .Policy "warn"}}
  SELECT alike__warn({{text .Name}}, {{.Keys.Value "w"}}, {{.Keys.OtherValue "w"}}, w.resemblance) FROM {{.Match}} w WHERE {{.Keys.Is "w" .Event}}{{.End}}
{{- end}}
{{- end}}
{{- end}}
{{define "changed"}}new.{{quote .Column}} COLLATE BINARY IS NOT old.{{quote .Column}} OR typeof(new.{{quote .Column}}) <> typeof(old.{{quote .Column}}){{end}}
{{define "rekeyed"}}({{.Keys.InTable "new"}}) IS NOT ({{.Keys.InTable "old"}}){{end}}

{{- /* What was recorded of a row goes with its sketch. */ -}}
{{define "unmatch"}}
  DELETE FROM {{.Match}} WHERE {{.Keys.Same "" "old"}};
  DELETE FROM {{.Match}} WHERE {{.Keys.SameOther "" "old"}};
{{- end}}
{{- define "trigger"}}
CREATE TRIGGER {{.In (.Object "gone")}} AFTER DELETE ON {{.Side}} BEGIN
{{- template "unmatch" .}}
END{{.Next}}
CREATE TRIGGER {{.In (.Object "changed")}} AFTER UPDATE OF sketch ON {{.Side}} BEGIN
{{- template "unmatch" .}}
END{{.Next}}
CREATE TRIGGER {{.In (.Object "insert")}} AFTER INSERT ON {{quote .Table}} BEGIN
{{- if ne .Mode "queue"}}{{template "loaded" .}}{{end}}
{{- template "replaced" .}}
{{- template "checkin" (.At "new")}}
END{{.Next}}
CREATE TRIGGER {{.In (.Object "update")}} AFTER UPDATE ON {{quote .Table}} WHEN {{template "changed" .}}
{{- if .Where}} OR {{template "rekeyed" .}} OR EXISTS (SELECT 1 FROM {{if eq .Mode "queue"}}(SELECT {{.Keys.List ""}} FROM {{.Side}} UNION ALL SELECT {{.Keys.List ""}} FROM {{.Queue}}){{else}}{{.Side}}{{end}} WHERE {{.Keys.Is "" "old"}}) <> EXISTS (SELECT 1 FROM {{.Source}} WHERE {{.Keys.Is "" "new"}}){{end}} BEGIN
{{- if ne .Mode "queue"}}{{template "loaded" .}}{{end}}
{{- template "replaced" .}}
{{- template "leave" .}}
{{- template "checkin" (.At "new")}}
END{{.Next}}
CREATE TRIGGER {{.In (.Object "delete")}} AFTER DELETE ON {{quote .Table}} BEGIN
  DELETE FROM {{.Side}} WHERE {{.Keys.Is "" "old"}};
  DELETE FROM {{.Mark}} WHERE {{.Keys.Is "" "old"}};
  DELETE FROM {{.Mark}} WHERE {{.Keys.OtherIs "" "old"}};
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE {{.Keys.Is "" "old"}};
{{- end}}
END{{.Next}}
{{- if not .Where}}
CREATE TRIGGER {{.In (.Object "rekey")}} AFTER UPDATE ON {{quote .Table}} WHEN {{template "rekeyed" .}} AND NOT ({{template "changed" .}}) BEGIN
{{- template "replaced" .}}
  DELETE FROM {{.Side}} WHERE {{.Keys.Is "" "new"}};
  UPDATE {{.Side}} SET {{.Keys.Set "new"}} WHERE {{.Keys.Is "" "old"}};
  UPDATE {{.Match}} SET {{.Keys.Set "new"}} WHERE {{.Keys.Is "" "old"}};
  UPDATE {{.Match}} SET {{.Keys.SetOther "new"}} WHERE {{.Keys.OtherIs "" "old"}};
  {{- template "remark" .}}
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE {{.Keys.Is "" "new"}};
  UPDATE {{.Queue}} SET {{.Keys.Set "new"}} WHERE {{.Keys.Is "" "old"}};
{{- end}}
END{{.Next}}
{{- end}}
{{- if .Uniques}}
CREATE TRIGGER {{.In (.Object "before_insert")}} BEFORE INSERT ON {{quote .Table}} WHEN EXISTS (SELECT 1 FROM {{quote .Table}} d WHERE {{.Conflicts "d"}}) BEGIN
  INSERT INTO {{.Replaced}} SELECT {{.Keys.InTable "d"}} FROM {{quote .Table}} d WHERE {{.Conflicts "d"}};
END{{.Next}}
CREATE TRIGGER {{.In (.Object "before_update")}} BEFORE UPDATE ON {{quote .Table}} WHEN EXISTS (SELECT 1 FROM {{quote .Table}} d WHERE ({{.Conflicts "d"}}) AND ({{.Keys.InTable "d"}}) IS NOT ({{.Keys.InTable "old"}})) BEGIN
  INSERT INTO {{.Replaced}} SELECT {{.Keys.InTable "d"}} FROM {{quote .Table}} d WHERE {{.Conflicts "d"}};
END{{.Next}}
CREATE TRIGGER {{.In (.Object "after_update")}} AFTER UPDATE ON {{quote .Table}} WHEN EXISTS (SELECT 1 FROM {{.Replaced}}) BEGIN
{{- template "replaced" .}}
END{{.Next}}
{{- end}}
{{- end}}
{{define "leave"}}
  DELETE FROM {{.Side}} WHERE {{.Keys.Is "" "old"}} AND {{template "rekeyed" .}};
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE {{.Keys.Is "" "old"}} AND {{template "rekeyed" .}};
{{- end}}
  {{- template "remark" .}}
{{- end}}
{{define "remark"}}
  DELETE FROM {{.Mark}} WHERE ({{.Keys.Is "" "new"}} OR {{.Keys.OtherIs "" "new"}}) AND {{template "rekeyed" .}};
  UPDATE {{.Mark}} SET {{.Keys.Set "new"}} WHERE {{.Keys.Is "" "old"}} AND {{template "rekeyed" .}};
  UPDATE {{.Mark}} SET {{.Keys.SetOther "new"}} WHERE {{.Keys.OtherIs "" "old"}} AND {{template "rekeyed" .}};
{{- end}}
{{template "trigger" .}}
