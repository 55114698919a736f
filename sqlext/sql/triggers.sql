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
{{- /*
  A REPLACE removes rows without a trigger. Beside its key, the table of uniques has
  what is unique in each row: a row that has now what another had, and that other is
  gone, has replaced it.
*/ -}}
{{define "gone"}}({{.Keys.InTable "old"}}) IN {{template "present" .}} IS NOT 1{{end}}
{{- /* An IN of a whole table is a look into its index, and less deep than an EXISTS. */ -}}
{{define "present"}}(SELECT {{.Keys.InTable ""}} FROM {{quote .Table}}){{end}}
{{define "replaced"}}
{{- range .UniqueSets}}
  DELETE FROM {{$.Unique}} WHERE ({{.}}) AND ({{$.Keys.List ""}}) IN {{template "present" $}} IS NOT 1{{if eq $.Event "old"}} AND ({{$.Keys.List ""}}) IS NOT ({{$.Keys.InTable "old"}}){{end}};
{{- end}}
{{- end}}
{{define "remember"}}
  INSERT INTO {{.Unique}}({{.Keys.List ""}}, {{.UniqueList}}) SELECT {{.Keys.InTable "t"}}, {{.UniqueColumns "t"}} FROM {{quote .Table}} t WHERE {{.Keys.InTableIs "t" "new"}}
  ON CONFLICT ({{.Keys.List ""}}) DO UPDATE SET {{.UniqueExcluded}};
{{- end}}
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
  SELECT {{.Keys.List "s"}}, {{.RowColumns "s.sketch"}} FROM ({{template "computed" .}} WHERE {{.Keys.Is "s" .Event}}) s WHERE true
  ON CONFLICT ({{.Keys.List ""}}) DO UPDATE SET {{.SetExcluded}}{{.End}}
{{- end}}
{{- /*
  The rows that a checkin compares a with: of each feature the newest that have
  it, and what a person called a duplicate. The bound is for features that a
  great part of the table has, a letterhead or an empty form.
*/ -}}
{{define "candidates"}}{{.Candidates "first_of_mark" "second_of_mark"}}{{end}}
{{define "first_of_mark"}}SELECT d.{{.Row}} FROM {{.Mark}} v CROSS JOIN {{.Side}} d ON {{.Keys.Same "v" "d"}} WHERE {{.Keys.OtherIs "v" .Event}} AND v.verdict = 'duplicate'{{end}}
{{define "second_of_mark"}}SELECT d.{{.Row}} FROM {{.Mark}} v CROSS JOIN {{.Side}} d ON {{.Keys.SameOther "v" "d"}} WHERE {{.Keys.Is "v" .Event}} AND v.verdict = 'duplicate'{{end}}
{{- /* What a person said about the pair of a and b decides, or else the resemblance. */ -}}
{{define "limit"}}CASE coalesce(v.verdict, w.verdict, '') WHEN 'duplicate' THEN 0 WHEN 'distinct' THEN NULL ELSE {{template "floor" .}} END{{end}}
{{- /* The resemblance that a and b need without a verdict: a higher one where either is short. */ -}}
{{define "floor"}}{{if .Short}}CASE WHEN min(a.shingles, b.shingles) < {{.Short.Below}} THEN {{.Short.AtLeast}} ELSE {{.Threshold}} END{{else}}{{.Threshold}}{{end}}{{end}}
{{- /*
  Joins, and no subqueries in an expression: SQLite adds up the depths of those, and
  its manual recommends to allow no more than ten.
*/ -}}
{{define "compared"}}(SELECT DISTINCT this FROM ({{template "candidates" .}})) c CROSS JOIN {{.Side}} a CROSS JOIN {{.Side}} b
    LEFT JOIN {{.Mark}} v ON ({{.Keys.Same "v" "a"}}) AND {{.Keys.SameOther "v" "b"}}
    LEFT JOIN {{.Mark}} w ON ({{.Keys.Same "w" "b"}}) AND {{.Keys.SameOther "w" "a"}}{{end}}
{{define "these"}}(({{.Keys.Is "a" .Event}}) AND b.{{.Row}} = c.this){{end}}
{{define "alike"}}
{{- if eq .Verify "text"}}(SELECT DISTINCT c.this, {{template "limit" .}} AS threshold, CASE WHEN alike__open(a.sketch, b.sketch, {{template "limit" .}})
    THEN alike__exact(x.document, a.content_hash, y.document, b.content_hash, {{text .RowSettings}}) END AS exact
    FROM {{template "compared" .}}
    LEFT JOIN {{.Source}} x ON {{.Keys.Same "x" "a"}}
    LEFT JOIN {{.Source}} y ON {{.Keys.Same "y" "b"}}
    WHERE {{template "these" .}}) c CROSS JOIN {{.Side}} a CROSS JOIN {{.Side}} b
  WHERE {{template "these" .}} AND {{.Judged "alike__resemblance"}} >= c.threshold
{{- else}}{{template "compared" .}}
  WHERE {{template "these" .}} AND {{.Judged "alike__resemblance"}} >= {{template "limit" .}}
{{- end}}
{{- end}}
{{- /* Of a pair that was read, its resemblance is both of its bounds. */ -}}
{{define "policy"}}
{{- if eq .Policy "reject"}}
  SELECT alike__cannot_judge({{text .Name}}) FROM {{.Side}} a WHERE ({{.Keys.Is "a" .Event}}) AND a.profile <> {{.ProfileID}}{{.End}}
{{- end}}
{{- if eq .Policy "ignore"}}
{{- else if eq .By "containment"}}
  SELECT alike__hold({{text .Name}}, {{.Stamp}}, a.{{.Row}}) FROM {{.Side}} a WHERE {{.Keys.Is "a" .Event}}{{.End}}
{{- else if eq .Policy "reject"}}
  SELECT alike__reject({{text .Name}}, other, resemblance, threshold) FROM (
  SELECT {{.Keys.Value "b"}} AS other, {{.Judged "alike__resemblance"}} AS resemblance, {{template "floor" .}} AS threshold FROM {{template "alike" .}}
  ORDER BY resemblance DESC, {{.Keys.List "b"}} LIMIT 1){{.End}}
{{- else}}
  INSERT INTO {{.Match}}({{.Keys.List ""}}, {{.Keys.Others ""}}, shared, resemblance, low, high, omitted, relation, policy, matched_at)
  SELECT {{.Keys.List "a"}}, {{.Keys.OthersAs "b"}}, {{.SharedFeatures "a" "b"}}, {{.Judged "alike__resemblance"}} AS resemblance, {{.Judged "alike__low"}}, {{.Judged "alike__high"}},
    max(0, count(*) OVER () - {{.Matches}}), 'resembles', {{text .Policy}}, a.sketched_at FROM {{template "alike" .}}
  ORDER BY resemblance DESC, {{.Keys.List "b"}} LIMIT {{.Matches}}{{.End}}
{{- if eq .Policy "warn"}}
  SELECT alike__warn({{text .Name}}, {{.Keys.Value "w"}}, {{.Keys.OtherValue "w"}}, w.resemblance, CASE WHEN lead(1) OVER (ORDER BY w.resemblance DESC, {{.Keys.Others "w"}}) IS NULL THEN w.omitted ELSE 0 END)
  FROM {{.Match}} w WHERE {{.Keys.Is "w" .Event}} ORDER BY w.resemblance DESC, {{.Keys.Others "w"}}{{.End}}
{{- end}}
{{- end}}
{{- end}}
{{define "changed"}}new.{{quote .Column}} COLLATE BINARY IS NOT old.{{quote .Column}} OR typeof(new.{{quote .Column}}) <> typeof(old.{{quote .Column}}){{end}}
{{define "rekeyed"}}({{.Keys.InTable "new"}}) IS NOT ({{.Keys.InTable "old"}}){{end}}
{{- /* A trigger of the user's that came before ours has changed the document that the statement wrote. The form is as shallow as can be. */ -}}
{{define "touched"}}new.{{quote .Column}} COLLATE BINARY IS NOT (SELECT t.{{quote .Column}} FROM {{quote .Table}} t WHERE {{.Keys.InTableIs "t" "new"}}){{end}}
{{define "there"}}({{.Keys.InTable "new"}}) IN {{template "present" .}}{{end}}
{{- /* A key that a trigger of the user's has given to another row since is not that of the row that left it. */ -}}
{{define "known"}}(({{.Keys.InTable "old"}}) IN (SELECT {{.Keys.List ""}} FROM {{.Side}}){{if eq .Mode "queue"}} OR ({{.Keys.InTable "old"}}) IN (SELECT {{.Keys.List ""}} FROM {{.Queue}}){{end}}){{end}}
{{define "moves"}}({{template "known" .}} AND {{template "gone" .}}){{end}}
{{- /*
  Under a condition a row comes in and leaves with a change of any column. What tells is
  a trigger of its own, which fires after that of a changed document: SQLite adds up the
  depths of a condition and of the view that it asks.
*/ -}}
{{define "here"}}({{.Keys.InTable "new"}}) IN (SELECT {{.Keys.List ""}} FROM {{.Side}}{{if eq .Mode "queue"}} UNION ALL SELECT {{.Keys.List ""}} FROM {{.Queue}}{{end}}){{end}}

{{- /* What was recorded of a row goes with its sketch. */ -}}
{{define "unmatch"}}
  DELETE FROM {{.Match}} WHERE {{.Keys.Same "" "old"}};
  DELETE FROM {{.Match}} WHERE {{.Keys.SameOther "" "old"}};
{{- end}}
{{define "unvalue"}}
  DELETE FROM {{.Values}} WHERE {{.Keys.Same "" "old"}};
{{- end}}
{{define "value_row"}}
  INSERT INTO {{.Values}}(value, {{.Keys.List ""}}) SELECT DISTINCT j.value, {{.Keys.List "new"}} FROM {{.Source}} s, json_each(alike__passages(s.document, {{text .RowSettings}})) j WHERE {{.Keys.Same "s" "new"}};
{{- end}}
{{define "forget"}}
  DELETE FROM {{.Side}} WHERE {{.Keys.Is "" "old"}};
  DELETE FROM {{.Mark}} WHERE {{.Keys.Is "" "old"}};
  DELETE FROM {{.Mark}} WHERE {{.Keys.OtherIs "" "old"}};
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE {{.Keys.Is "" "old"}};
{{- end}}
{{- end}}
{{- /*
  SQLite fires the newest trigger first. Nothing here relies on that order but what a
  policy says: a row that was replaced is gone before it is compared with, and a row
  whose key alone has changed is moved and not judged again.

  A trigger of the user's can come before ours and do the same things again to the
  same row, so each trigger looks at what the table holds when it runs.
*/ -}}
{{- define "trigger"}}
CREATE TRIGGER {{.In (.Object "gone")}} AFTER DELETE ON {{.Side}} BEGIN
{{- template "unmatch" .}}
{{- if .Contains}}{{template "unvalue" .}}{{end}}
END{{.Next}}
CREATE TRIGGER {{.In (.Object "changed")}} AFTER UPDATE OF sketch ON {{.Side}} BEGIN
{{- template "unmatch" .}}
{{- if .Contains}}{{template "unvalue" .}}{{template "value_row" .}}{{end}}
END{{.Next}}
{{- if .Contains}}
CREATE TRIGGER {{.In (.Object "valued")}} AFTER INSERT ON {{.Side}} BEGIN
{{- template "value_row" .}}
END{{.Next}}
CREATE TRIGGER {{.In (.Object "value_moved")}} AFTER UPDATE OF {{.Keys.List ""}} ON {{.Side}} WHEN ({{.Keys.List "new"}}) IS NOT ({{.Keys.List "old"}}) BEGIN
  DELETE FROM {{.Values}} WHERE {{.Keys.Same "" "new"}};
  UPDATE {{.Values}} SET {{.Keys.SetSame "new"}} WHERE {{.Keys.Same "" "old"}};
END{{.Next}}
{{- end}}
{{- if .KeepsClusters}}{{template "cluster_triggers" .}}{{end}}
CREATE TRIGGER {{.In (.Object "insert")}} AFTER INSERT ON {{quote .Table}} BEGIN
{{- if ne .Mode "queue"}}{{template "loaded" .}}{{end}}
{{- if .Uniques}}{{template "replaced" .}}{{template "remember" .}}{{end}}
{{- template "checkin" (.At "new")}}
END{{.Next}}
{{- if not .Where}}
{{- /* After rekey: a trigger of the user's that came before it has changed the document. */ -}}
CREATE TRIGGER {{.In (.Object "touched")}} AFTER UPDATE{{if gt (len .Keys) 1}} OF {{.Keys.InTable ""}}{{end}} ON {{quote .Table}} WHEN {{if eq (len .Keys) 1}}{{template "rekeyed" .}} AND {{end}}{{template "touched" .}} BEGIN
{{- if ne .Mode "queue"}}{{template "loaded" .}}{{end}}
{{- template "checkin" (.At "new")}}
END{{.Next}}
CREATE TRIGGER {{.In (.Object "rekey")}} AFTER UPDATE ON {{quote .Table}} WHEN {{template "rekeyed" .}} AND NOT ({{template "changed" .}}) AND {{template "moves" .}} BEGIN
  DELETE FROM {{.Side}} WHERE {{.Keys.Is "" "new"}};
  UPDATE {{.Side}} SET {{.Keys.Set "new"}} WHERE ({{.Keys.Is "" "old"}}) AND {{template "there" .}};
  UPDATE {{.Match}} SET {{.Keys.Set "new"}} WHERE ({{.Keys.Is "" "old"}}) AND {{template "there" .}};
  UPDATE {{.Match}} SET {{.Keys.SetOther "new"}} WHERE ({{.Keys.OtherIs "" "old"}}) AND {{template "there" .}};
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE {{.Keys.Is "" "new"}};
  UPDATE {{.Queue}} SET {{.Keys.Set "new"}} WHERE ({{.Keys.Is "" "old"}}) AND {{template "there" .}};
  DELETE FROM {{.Queue}} WHERE ({{.Keys.Is "" "old"}}) AND {{template "gone" .}};
{{- end}}
  DELETE FROM {{.Side}} WHERE ({{.Keys.Is "" "old"}}) AND {{template "gone" .}};
{{- template "remark" .}}
END{{.Next}}
{{- end}}
{{- if .Where}}
CREATE TRIGGER {{.In (.Object "moved")}} AFTER UPDATE ON {{quote .Table}} WHEN {{template "here" .}} <> (({{.Keys.InTable "new"}}) IN (SELECT {{.Keys.List ""}} FROM {{.Source}})) BEGIN
{{- if ne .Mode "queue"}}{{template "loaded" .}}{{end}}
{{- template "checkin" (.At "new")}}
END{{.Next}}
{{- end}}
CREATE TRIGGER {{.In (.Object "update")}} AFTER UPDATE ON {{quote .Table}} WHEN {{template "changed" .}}
{{- if .Where}} OR {{template "rekeyed" .}}
{{- else}} OR {{template "rekeyed" .}} AND {{template "moves" .}} IS NOT 1{{end}} BEGIN
{{- if ne .Mode "queue"}}{{template "loaded" .}}{{end}}
  DELETE FROM {{.Side}} WHERE ({{.Keys.Is "" "old"}}) AND {{template "gone" .}};
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE ({{.Keys.Is "" "old"}}) AND {{template "gone" .}};
{{- end}}
{{- template "remark" .}}
{{- template "checkin" (.At "new")}}
END{{.Next}}
CREATE TRIGGER {{.In (.Object "delete")}} AFTER DELETE ON {{quote .Table}} WHEN {{template "gone" .}} BEGIN
{{- if .Uniques}}
  DELETE FROM {{.Unique}} WHERE {{.Keys.Is "" "old"}};
{{- end}}
{{- template "forget" .}}
END{{.Next}}
{{- if .Uniques}}
CREATE TRIGGER {{.In (.Object "unique_changed")}} AFTER UPDATE ON {{quote .Table}} WHEN ({{.UniqueColumns "new"}}) IS NOT ({{.UniqueColumns "old"}}) OR {{template "rekeyed" .}} BEGIN
{{- template "replaced" (.At "old")}}
  DELETE FROM {{.Unique}} WHERE ({{.Keys.Is "" "new"}}) AND {{template "rekeyed" .}};
  UPDATE {{.Unique}} SET {{.Keys.Set "new"}} WHERE ({{.Keys.Is "" "old"}}) AND {{template "rekeyed" .}} AND {{template "there" .}} AND {{template "gone" .}};
{{- template "remember" .}}
  DELETE FROM {{.Unique}} WHERE ({{.Keys.Is "" "old"}}) AND {{template "gone" .}};
END{{.Next}}
CREATE TRIGGER {{.In (.Object "replaced")}} AFTER DELETE ON {{.Unique}} WHEN ({{.Keys.List "old"}}) IN {{template "present" .}} IS NOT 1 BEGIN
  DELETE FROM {{.Side}} WHERE {{.Keys.Same "" "old"}};
  DELETE FROM {{.Mark}} WHERE {{.Keys.Same "" "old"}};
  DELETE FROM {{.Mark}} WHERE {{.Keys.SameOther "" "old"}};
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE {{.Keys.Same "" "old"}};
{{- end}}
END{{.Next}}
{{- end}}
{{- end}}
{{define "remark"}}
  DELETE FROM {{.Mark}} WHERE ({{.Keys.Is "" "new"}} OR {{.Keys.OtherIs "" "new"}}) AND {{template "rekeyed" .}};
  UPDATE {{.Mark}} SET {{.Keys.Set "new"}} WHERE ({{.Keys.Is "" "old"}}) AND {{template "rekeyed" .}} AND {{template "there" .}} AND {{template "gone" .}};
  UPDATE {{.Mark}} SET {{.Keys.SetOther "new"}} WHERE ({{.Keys.OtherIs "" "old"}}) AND {{template "rekeyed" .}} AND {{template "there" .}} AND {{template "gone" .}};
  DELETE FROM {{.Mark}} WHERE ({{.Keys.Is "" "old"}} OR {{.Keys.OtherIs "" "old"}}) AND {{template "gone" .}};
{{- end}}
{{template "trigger" .}}
