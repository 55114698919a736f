-- The row of a key: what a question starts from.
SELECT {{.Row}}, sketch, {{range $i, $f := .Features}}{{if $i}}, {{end}}{{$f}}{{end}} FROM {{.In .Side}} WHERE {{.Keys.Is "" "?"}}
