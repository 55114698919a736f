-- What a checkin does with a near-duplicate: :policy is ignore, link, warn or reject.
select alike_attach('si_aspect_text', 'text', '{"name": "si_aspect", "policy": "' || :policy || '"}') as attached;
