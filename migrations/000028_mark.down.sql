drop function alike._distinct_from(alike.attachment, text);
drop function alike.mark(text, anycompatible, anycompatible, text, text);
drop function alike.mark(text, text, text, text, text);
drop function alike._queue_judged(alike.attachment, text, text);
drop function alike._mark(alike.attachment, text, text, text, text);
