SELECT {{.Row}}, {{range $i, $f := .Features}}{{if $i}}, {{end}}{{$f}}{{end}} FROM {{.In .Side}} WHERE sketch IS NOT NULL ORDER BY {{.Row}}
