SELECT {{.KeyList ""}}, sketch FROM {{.In .Side}} WHERE {{.Row}} = ?1
