drop function alike.attach(text, text, jsonb);
drop function alike._attach(regclass, text, text, jsonb, integer);
drop function alike._extract_option(jsonb, text, regclass);
