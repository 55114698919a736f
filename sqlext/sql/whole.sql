SELECT {{.KeyList ""}}, sketch, {{range $i, $f := .Features}}{{if $i}}, {{end}}{{$f}}{{end}} FROM {{.In .Side}} WHERE {{.Row}} = ?1
