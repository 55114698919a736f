{{- /* The clusters that are kept: a line for each row that resembles another, and what became of each cluster. */ -}}
{{define "cluster_tables"}}CREATE TABLE IF NOT EXISTS {{.In .Clusters}}(
{{- range .Keys}}
  {{.Column}},
{{- end}}
  component INTEGER, -- everything that pairs link; -1: one of those with too many rows
  cluster INTEGER, -- NULL: in none
  clustered_at INTEGER,
  alike__row INTEGER PRIMARY KEY,
  UNIQUE ({{.Keys.List ""}})
){{.Next}}
CREATE INDEX IF NOT EXISTS {{.In (.Object "cluster_component")}} ON {{.Clusters}}(component, cluster){{.Next}}
CREATE INDEX IF NOT EXISTS {{.In (.Object "cluster_cluster")}} ON {{.Clusters}}(cluster){{.Next}}
CREATE TABLE IF NOT EXISTS {{.In .Events}}(
  event_id INTEGER PRIMARY KEY AUTOINCREMENT,
  event TEXT NOT NULL CHECK (event IN ('made', 'joined', 'split', 'gone')),
  cluster INTEGER NOT NULL,
  other INTEGER,
{{- range .Keys}}
  {{.Optional}},
{{- end}}
  happened_at INTEGER NOT NULL
){{end}}
{{define "drop_clusters"}}DROP TABLE IF EXISTS {{.In .Clusters}}{{.Next}}DROP TABLE IF EXISTS {{.In .Events}}{{end}}

{{- /* A row leaves its component while its sketch is still there, and joins another when the new one is. */ -}}
{{define "cluster_triggers"}}
CREATE TRIGGER {{.In (.Object "cluster_leave")}} BEFORE DELETE ON {{.Side}} BEGIN
{{- template "loaded" .}}
  SELECT alike__leave({{text .Name}}, {{.Stamp}}, old.{{.Row}}, 1);
END{{.Next}}
CREATE TRIGGER {{.In (.Object "cluster_change")}} BEFORE UPDATE OF sketch ON {{.Side}} WHEN {{template "resketched" .}} BEGIN
  SELECT alike__leave({{text .Name}}, {{.Stamp}}, old.{{.Row}}, 0);
END{{.Next}}
CREATE TRIGGER {{.In (.Object "cluster_changed")}} AFTER UPDATE OF sketch ON {{.Side}} WHEN {{template "resketched" .}} BEGIN
  SELECT alike__join({{text .Name}}, {{.Stamp}}, new.{{.Row}});
END{{.Next}}
CREATE TRIGGER {{.In (.Object "cluster_join")}} AFTER INSERT ON {{.Side}} BEGIN
  SELECT alike__join({{text .Name}}, {{.Stamp}}, new.{{.Row}});
END{{.Next}}
CREATE TRIGGER {{.In (.Object "cluster_moved")}} AFTER UPDATE OF {{.Keys.List ""}} ON {{.Side}} WHEN ({{.Keys.List "new"}}) IS NOT ({{.Keys.List "old"}}) BEGIN
  INSERT INTO {{.Events}}(event, cluster, {{.Keys.List ""}}, happened_at) SELECT 'gone', k.cluster, {{.Keys.List "old"}}, {{template "now"}} FROM {{.Clusters}} k WHERE ({{.Keys.Same "k" "old"}}) AND k.cluster IS NOT NULL;
  UPDATE {{.Clusters}} SET {{.Keys.SetSame "new"}} WHERE {{.Keys.Same "" "old"}};
  INSERT INTO {{.Events}}(event, cluster, {{.Keys.List ""}}, happened_at) SELECT 'joined', k.cluster, {{.Keys.List "new"}}, {{template "now"}} FROM {{.Clusters}} k WHERE ({{.Keys.Same "k" "new"}}) AND k.cluster IS NOT NULL;
END{{.Next}}
{{- end}}
{{define "resketched"}}new.sketch IS NOT old.sketch OR new.profile <> old.profile{{end}}
{{define "now"}}CAST(strftime('%s', 'now') AS INTEGER){{end}}

{{- /* What the functions ask. A line is a row of the table of clusters, and a row one of the side table. */ -}}
{{define "line_of_row"}}SELECT k.alike__row, k.component FROM {{.In .Side}} d CROSS JOIN {{.In .Clusters}} k ON {{.Keys.Same "k" "d"}} WHERE d.{{.Row}} = ?1{{end}}
{{define "is_attached"}}SELECT count(*) FROM {{.In .Side}} d CROSS JOIN {{.In .Source}} s ON {{.Keys.Same "s" "d"}} WHERE d.{{.Row}} = ?1{{end}}
{{define "rows_of_component"}}SELECT d.{{.Row}} FROM {{.In .Clusters}} k CROSS JOIN {{.In .Side}} d ON {{.Keys.Same "d" "k"}} WHERE k.component = ?1 AND d.sketch IS NOT NULL ORDER BY {{.Keys.List "k"}}{{end}}
{{define "lines_of_component"}}SELECT alike__row, cluster FROM {{.In .Clusters}} WHERE component IS ?1{{end}}
{{define "clustered_lines"}}SELECT alike__row, cluster FROM {{.In .Clusters}} WHERE component = ?1 AND cluster > 0{{end}}
{{define "size_of_component"}}SELECT count(*) FROM {{.In .Clusters}} WHERE component = ?1{{end}}
{{define "next_component"}}SELECT max(ifnull(max(component), 0), 0) + 1 FROM {{.In .Clusters}}{{end}}
{{define "any_mark"}}SELECT EXISTS (SELECT 1 FROM {{.In .Mark}}){{end}}
{{define "marks_of_component"}}SELECT a.{{.Row}}, b.{{.Row}}, m.verdict = 'duplicate' FROM {{.In .Clusters}} k CROSS JOIN {{.In .Mark}} m ON ({{.Keys.Same "m" "k"}}) CROSS JOIN {{.In .Clusters}} o ON ({{.Keys.SameOther "m" "o"}})
CROSS JOIN {{.In .Side}} a ON ({{.Keys.Same "a" "k"}}) CROSS JOIN {{.In .Side}} b ON ({{.Keys.Same "b" "o"}}) WHERE k.component = ?1 AND o.component = ?1 AND a.{{.Row}} <> b.{{.Row}} ORDER BY 3 DESC{{end}}
{{define "put_line"}}INSERT INTO {{.In .Clusters}}({{.Keys.List ""}}, component) SELECT {{.Keys.List ""}}, ?2 FROM {{.In .Side}} WHERE {{.Row}} = ?1
ON CONFLICT ({{.Keys.List ""}}) DO UPDATE SET component = excluded.component{{end}}
{{define "move_line"}}UPDATE {{.In .Clusters}} SET component = ?2 WHERE alike__row = ?1{{end}}
{{define "unite"}}UPDATE {{.In .Clusters}} SET component = ?1 WHERE component = ?2{{end}}
{{define "scatter"}}UPDATE {{.In .Clusters}} SET component = NULL{{end}}
{{define "give_cluster"}}UPDATE {{.In .Clusters}} SET cluster = ?2, clustered_at = {{template "now"}} WHERE alike__row = ?1{{end}}
{{define "remove_line"}}DELETE FROM {{.In .Clusters}} WHERE alike__row = ?1{{end}}
{{define "make_cluster"}}INSERT INTO {{.In .Events}}(event, cluster, happened_at) VALUES ('made', 0, {{template "now"}}){{end}}
{{define "made_cluster"}}SELECT max(event_id) FROM {{.In .Events}}{{end}}
{{define "name_cluster"}}UPDATE {{.In .Events}} SET cluster = event_id WHERE event_id = ?1{{end}}
{{define "tell"}}INSERT INTO {{.In .Events}}(event, cluster, other, happened_at) VALUES (?1, ?2, ?3, {{template "now"}}){{end}}
{{define "tell_of_line"}}INSERT INTO {{.In .Events}}(event, cluster, other, {{.Keys.List ""}}, happened_at) SELECT ?1, ?2, ?3, {{.Keys.List ""}}, {{template "now"}} FROM {{.In .Clusters}} WHERE alike__row = ?4{{end}}
{{define "count_clustered"}}SELECT count(*) FROM {{.In .Clusters}} WHERE cluster > 0{{end}}
