drop function alike.detach(text, jsonb);
drop function alike._detach(alike.attachment, jsonb);
drop function alike._take_away(alike.attachment, boolean);
drop function alike._await_workers(alike.attachment);
