-- Gives the sample table its aspect, and a second one for questions of
-- containment. Returns how many rows were sketched, twice.
select alike_attach('documents', 'body', '{"profile": "prose", "policy": "link", "si": ["43B/4", "length", "forest/0", "forest/1"]}') as sketched;
select alike_attach('documents', 'body', '{"name": "samples", "profile": "words mod=1"}') as sketched;
