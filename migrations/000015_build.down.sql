drop function alike._make_builder(alike.attachment);
