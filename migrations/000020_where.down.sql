drop function alike._row_filter(regclass, text);
drop function alike._foreign_type(regclass, name[]);
