drop function alike._match(alike.attachment, text[]);
