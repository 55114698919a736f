drop function alike.detach(text, jsonb);
drop function alike._detach(alike.attachment, jsonb);
