drop function alike._settings_id(text, integer, smallint);
drop table alike.attachment;
drop table alike.settings;
