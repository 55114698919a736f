SELECT {{.Keys.List ""}}, sketch FROM {{.In .Side}} WHERE {{.Row}} = ?1
