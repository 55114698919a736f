-- Gives the sample table its aspect, and a second one for questions of
-- containment. Returns how many rows the worker will sketch, twice.
select alike.attach('documents', 'body', '{"profile": "prose", "policy": "link", "si": ["43B/4", "length", "forest/0", "forest/1"]}') as queued;
select alike.attach('documents', 'body', '{"name": "samples", "profile": "words mod=1"}') as queued;
