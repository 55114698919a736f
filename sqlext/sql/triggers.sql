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
  DELETE FROM {{.Side}} WHERE ({{.KeyList ""}}) IN (SELECT {{.KeyList ""}} FROM {{.Replaced}}) AND NOT EXISTS (SELECT 1 FROM {{.Source}} s WHERE {{.Same "s" .Side}});
  DELETE FROM {{.Mark}} WHERE ({{.KeyList ""}}) IN (SELECT {{.KeyList ""}} FROM {{.Replaced}}) AND NOT EXISTS (SELECT 1 FROM {{.Source}} s WHERE {{.Same "s" .Mark}});
  DELETE FROM {{.Mark}} WHERE ({{.Others ""}}) IN (SELECT {{.KeyList ""}} FROM {{.Replaced}}) AND NOT EXISTS (SELECT 1 FROM {{.Source}} s WHERE {{.SameOther .Mark "s"}});
  DELETE FROM {{.Replaced}};
{{- end}}{{end}}
{{define "checkin"}}
{{- if or .Where (eq .Mode "queue")}}
  DELETE FROM {{.Side}} WHERE {{.KeyIs "" .Row0}};
{{- end}}
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE {{.KeyIs "" .Row0}};
  INSERT INTO {{.Queue}}({{.KeyList ""}}, queued_at) SELECT {{.KeyList "s"}}, CAST(strftime('%s', 'now') AS INTEGER) FROM {{.Source}} s WHERE {{.KeyIs "s" .Row0}};
{{- else}}{{template "compute" .}}{{template "policy" .}}{{end}}
{{- end}}
{{define "compute"}}
  INSERT INTO {{.Side}}({{.SideColumns}})
  SELECT {{.KeyList "s"}}, {{.ProfileID}}, {{.RowColumns "r"}}
  FROM {{.Source}} s CROSS JOIN alike__row(s.document, {{text .RowSettings}}) r WHERE {{.KeyIs "s" .Row0}}
  ON CONFLICT ({{.KeyList ""}}) DO UPDATE SET {{.SetExcluded}};
{{- end}}
{{- /*
  The rows that a checkin compares a with: of each feature the newest that have
  it, and what a person called a duplicate. The bound is for features that a
  great part of the table has, a letterhead or an empty form.
*/ -}}
{{define "candidates"}}
{{- range $i, $f := .Features}}
    {{if $i}}UNION ALL {{end}}SELECT * FROM (SELECT {{$.Row}} FROM {{$.Side}} {{$.IndexedBy $f}} WHERE {{$f}} = a.{{$f}} AND {{$.Row}} <> a.{{$.Row}} ORDER BY {{$.Row}} DESC LIMIT {{$.Newest}})
{{- end}}
    UNION ALL SELECT d.{{.Row}} FROM {{.Mark}} v CROSS JOIN {{.Side}} d ON {{.SameOther "v" "d"}} WHERE v.verdict = 'duplicate' AND {{.Same "v" "a"}}
    UNION ALL SELECT d.{{.Row}} FROM {{.Mark}} v CROSS JOIN {{.Side}} d ON {{.Same "v" "d"}} WHERE v.verdict = 'duplicate' AND {{.SameOther "v" "a"}}
{{- end}}
{{- /*
  Most rows share nothing with another, which is cheaper to learn than to list:
  a list is a table that SQLite makes and drops.
*/ -}}
{{define "some"}}
{{- range $i, $f := .Features}}{{if $i}}
    OR {{end}}EXISTS (SELECT 1 FROM {{$.Side}} {{$.IndexedBy $f}} WHERE {{$f}} = a.{{$f}} AND {{$.Row}} <> a.{{$.Row}})
{{- end}}
    OR EXISTS (SELECT 1 FROM {{.Mark}} v WHERE {{.Same "v" "a"}})
    OR EXISTS (SELECT 1 FROM {{.Mark}} v WHERE {{.SameOther "v" "a"}})
{{- end}}
{{define "limit"}}CASE WHEN NOT EXISTS (SELECT 1 FROM {{.Mark}}) THEN {{.Threshold}} ELSE
    CASE (SELECT v.verdict FROM {{.Mark}} v WHERE {{.Same "v" "a"}} AND {{.SameOther "v" "b"}} OR {{.Same "v" "b"}} AND {{.SameOther "v" "a"}})
    WHEN 'duplicate' THEN 0 WHEN 'distinct' THEN NULL ELSE {{.Threshold}} END END
{{- end}}
{{define "alike"}}{{.Side}} a CROSS JOIN {{.Side}} b CROSS JOIN alike__compare(a.sketch, b.sketch, {{template "limit" .}}) m
  WHERE {{.KeyIs "a" .Row0}} AND ({{template "some" .}})
    AND b.{{.Row}} <> a.{{.Row}} AND b.{{.Row}} IN ({{template "candidates" .}})
{{- end}}
{{define "policy"}}
{{- if eq .Policy "reject"}}
  SELECT alike__reject({{text .Name}}, other, resemblance, {{.Threshold}}) FROM (
  SELECT {{.KeyOut "b"}} AS other, m.resemblance AS resemblance FROM {{template "alike" .}}
  ORDER BY m.resemblance DESC LIMIT 1);
{{- else if or (eq .Policy "link") (eq .Policy "warn")}}
  INSERT INTO {{.Match}}({{.KeyList ""}}, {{.Others ""}}, shared, resemblance, low, high, policy, matched_at)
  SELECT {{.KeyList "a"}}, {{.KeyList "b"}}, {{.SharedFeatures "a" "b"}}, m.resemblance, m.low, m.high, {{text .Policy}}, a.sketched_at FROM {{template "alike" .}};
{{- if eq .Policy "warn"}}
  SELECT alike__warn({{text .Name}}, {{.KeyOut "w"}}, {{.OtherOut "w"}}, w.resemblance) FROM {{.Match}} w WHERE {{.KeyIs "w" .Row0}};
{{- end}}
{{- end}}
{{- end}}
{{define "changed"}}new.{{quote .Column}} COLLATE BINARY IS NOT old.{{quote .Column}} OR typeof(new.{{quote .Column}}) <> typeof(old.{{quote .Column}}){{end}}
{{define "rekeyed"}}({{.TableKeys "new"}}) IS NOT ({{.TableKeys "old"}}){{end}}

{{- /* What was recorded of a row goes with its sketch. */ -}}
{{define "unmatch"}}
  DELETE FROM {{.Match}} WHERE {{.Same "" "old"}};
  DELETE FROM {{.Match}} WHERE {{.SameOther "" "old"}};
{{- end}}
{{- define "trigger"}}
CREATE TRIGGER {{.In (.Object "gone")}} AFTER DELETE ON {{.Side}} BEGIN
{{- template "unmatch" .}}
END;
CREATE TRIGGER {{.In (.Object "changed")}} AFTER UPDATE OF sketch ON {{.Side}} BEGIN
{{- template "unmatch" .}}
END;
CREATE TRIGGER {{.In (.Object "insert")}} AFTER INSERT ON {{quote .Table}} BEGIN
{{- if ne .Mode "queue"}}{{template "loaded" .}}{{end}}
{{- template "replaced" .}}
{{- template "checkin" (.At "new")}}
END;
CREATE TRIGGER {{.In (.Object "update")}} AFTER UPDATE ON {{quote .Table}} WHEN {{template "changed" .}}
{{- if .Where}} OR {{template "rekeyed" .}} OR EXISTS (SELECT 1 FROM {{if eq .Mode "queue"}}(SELECT {{.KeyList ""}} FROM {{.Side}} UNION ALL SELECT {{.KeyList ""}} FROM {{.Queue}}){{else}}{{.Side}}{{end}} WHERE {{.KeyIs "" "old"}}) <> EXISTS (SELECT 1 FROM {{.Source}} WHERE {{.KeyIs "" "new"}}){{end}} BEGIN
{{- if ne .Mode "queue"}}{{template "loaded" .}}{{end}}
{{- template "replaced" .}}
{{- template "leave" .}}
{{- template "checkin" (.At "new")}}
END;
CREATE TRIGGER {{.In (.Object "delete")}} AFTER DELETE ON {{quote .Table}} BEGIN
  DELETE FROM {{.Side}} WHERE {{.KeyIs "" "old"}};
  DELETE FROM {{.Mark}} WHERE {{.KeyIs "" "old"}};
  DELETE FROM {{.Mark}} WHERE {{.OtherIs "" "old"}};
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE {{.KeyIs "" "old"}};
{{- end}}
END;
{{- if not .Where}}
CREATE TRIGGER {{.In (.Object "rekey")}} AFTER UPDATE ON {{quote .Table}} WHEN {{template "rekeyed" .}} AND NOT ({{template "changed" .}}) BEGIN
{{- template "replaced" .}}
  DELETE FROM {{.Side}} WHERE {{.KeyIs "" "new"}};
  UPDATE {{.Side}} SET {{.SetKey "new"}} WHERE {{.KeyIs "" "old"}};
  UPDATE {{.Match}} SET {{.SetKey "new"}} WHERE {{.KeyIs "" "old"}};
  UPDATE {{.Match}} SET {{.SetOther "new"}} WHERE {{.OtherIs "" "old"}};
  {{- template "remark" .}}
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE {{.KeyIs "" "new"}};
  UPDATE {{.Queue}} SET {{.SetKey "new"}} WHERE {{.KeyIs "" "old"}};
{{- end}}
END;
{{- end}}
{{- if .Uniques}}
CREATE TRIGGER {{.In (.Object "before_insert")}} BEFORE INSERT ON {{quote .Table}} WHEN EXISTS (SELECT 1 FROM {{quote .Table}} d WHERE {{.Conflicts "d"}}) BEGIN
  INSERT INTO {{.Replaced}} SELECT {{.TableKeys "d"}} FROM {{quote .Table}} d WHERE {{.Conflicts "d"}};
END;
CREATE TRIGGER {{.In (.Object "before_update")}} BEFORE UPDATE ON {{quote .Table}} WHEN EXISTS (SELECT 1 FROM {{quote .Table}} d WHERE ({{.Conflicts "d"}}) AND ({{.TableKeys "d"}}) IS NOT ({{.TableKeys "old"}})) BEGIN
  INSERT INTO {{.Replaced}} SELECT {{.TableKeys "d"}} FROM {{quote .Table}} d WHERE {{.Conflicts "d"}};
END;
CREATE TRIGGER {{.In (.Object "after_update")}} AFTER UPDATE ON {{quote .Table}} WHEN EXISTS (SELECT 1 FROM {{.Replaced}}) BEGIN
{{- template "replaced" .}}
END;
{{- end}}
{{- end}}
{{define "leave"}}
  DELETE FROM {{.Side}} WHERE {{.KeyIs "" "old"}} AND {{template "rekeyed" .}};
{{- if eq .Mode "queue"}}
  DELETE FROM {{.Queue}} WHERE {{.KeyIs "" "old"}} AND {{template "rekeyed" .}};
{{- end}}
  {{- template "remark" .}}
{{- end}}
{{define "remark"}}
  DELETE FROM {{.Mark}} WHERE ({{.KeyIs "" "new"}} OR {{.OtherIs "" "new"}}) AND {{template "rekeyed" .}};
  UPDATE {{.Mark}} SET {{.SetKey "new"}} WHERE {{.KeyIs "" "old"}} AND {{template "rekeyed" .}};
  UPDATE {{.Mark}} SET {{.SetOther "new"}} WHERE {{.OtherIs "" "old"}} AND {{template "rekeyed" .}};
{{- end}}
{{template "trigger" .}}
