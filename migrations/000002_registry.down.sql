drop function alike._settings_id(text);
drop table alike.attachment;
drop table alike.settings;
