drop function alike._patiently(regclass, text, text[]);
drop function alike._make_functions(alike.attachment);
drop function alike._make_tables(alike.attachment);
drop function alike._rows_with(alike.attachment, integer, text, text);
drop function alike._pair_arms(alike.attachment);
drop function alike._make_pair_table(alike.attachment, text, text);
drop function alike._column_list(name[], text[]);
drop function alike._make_side(alike.attachment, text[], boolean);
drop function alike._grant(text, text, text);
