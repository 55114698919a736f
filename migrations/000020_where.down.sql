drop function alike._row_filter(regclass, text);
