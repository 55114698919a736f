SELECT a.name, a.state, a."table", a."column", a.profile, p.profile, a.si, a.policy, a.at_least, a.mode, a."where", a.extract, a.generation, a.stamp, a.matches, p.tokens, a.verify, a.contains, a.preset, a.recall, a.reason, a.looked, a.layout, a.clusters, a."by", a.superfeatures
FROM {{.Schema}}.alike_attachment a JOIN {{.Schema}}.alike_settings p ON p.id = a.profile
