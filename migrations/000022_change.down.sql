drop function alike._mend(alike.attachment);
drop function alike._replace(alike.attachment, alike.attachment);
drop function alike._switch(alike.attachment);
drop function alike._leave_out(alike.attachment, bytea);
drop function alike.change(text, jsonb);
drop function alike._change(alike.attachment, jsonb);
