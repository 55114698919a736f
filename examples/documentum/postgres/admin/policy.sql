-- What a checkin does with a near-duplicate: the policy is ignore, link, warn or reject.
-- Workers know it within a second.
select alike.attach('si_aspect_text', 'text', json_build_object('name', 'si_aspect', 'policy', :'policy')::jsonb) as queued;
