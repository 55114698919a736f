drop function alike._make_forget(alike.attachment);
