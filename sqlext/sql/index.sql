CREATE INDEX IF NOT EXISTS {{.In (.Index .Item)}} ON {{.Side}}({{.Item}})
