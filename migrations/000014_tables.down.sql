drop function alike._make_tables(alike.attachment, text[]);
drop function alike._grant(text, text, text);
