drop function alike._settings_id(text, integer, smallint);
drop table alike.attachment;
drop function alike._keep_boilerplate(bytea);
drop table alike.boilerplate;
drop table alike.settings;
