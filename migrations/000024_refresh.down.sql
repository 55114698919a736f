drop function alike._take_over(integer, integer, boolean);
drop function alike._other_build(alike.attachment);
drop function alike.refresh(text);
drop function alike._refresh(alike.attachment);
