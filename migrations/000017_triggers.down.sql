drop function alike._make_triggers(alike.attachment, text);
drop function alike._make_enqueue(alike.attachment);
