drop function alike._match(alike.attachment, text[]);
drop function alike._record(alike.attachment, text[], text[], integer[], double precision[], double precision[], double precision[], integer[], text[]);
