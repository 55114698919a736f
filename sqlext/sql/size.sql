SELECT shingles FROM {{.In .Side}} WHERE {{.Row}} = ?1
