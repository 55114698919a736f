drop function alike.refresh(text);
drop function alike._refresh(alike.attachment);
