-- What a checkin does with a near-duplicate: the policy is ignore, link, warn or reject.
-- It is in force when the worker has been by.
select alike.attach('si_aspect_text', 'text', json_build_object('name', 'si_aspect', 'policy', :'policy')::jsonb) as queued;
