-- What was attached is detached, and its side tables stay: they are the user's.
do $$
declare
  a alike.attachment;
begin
  for a in select * from alike.attachment order by replaces nulls last, id desc loop
    perform alike._detach(a, '{}');
  end loop;
end
$$;
drop function alike.refresh(text);
drop function alike._refresh(alike.attachment);
drop function alike.detach(text, jsonb);
drop function alike._detach(alike.attachment, jsonb);
drop function alike._switch(alike.attachment);
drop function alike.change(text, jsonb);
drop function alike._change(alike.attachment, jsonb);
drop function alike.attach(text, text, jsonb);
drop function alike._extract_option(jsonb, text, regclass);
drop function alike._attach(regclass, text, text, jsonb, integer);
drop function alike._make_similar(alike.attachment);
drop function alike._no_row(alike.attachment, text);
drop function alike._bad_key(alike.attachment, text, text);
drop function alike._make_triggers(alike.attachment, text);
drop function alike._make_forget(alike.attachment);
drop function alike._make_enqueue(alike.attachment);
drop function alike._make_builder(alike.attachment);
drop function alike._make_tables(alike.attachment, text[]);
drop function alike._grant(text, text, text);
drop function alike._row_filter(regclass, text);
drop function alike._settings_id(text);
drop function alike._variant(text, integer);
drop function alike._si_column(text);
drop function alike._key_is(name[], text[], text, text);
drop function alike._key_values(name[], text[], text);
drop function alike._side(alike.attachment, text);
drop function alike._key_types(regclass, name[]);
drop function alike._key_less(name[], text, text);
drop function alike._key_equal(name[], text, text, name[]);
drop function alike._names(name[]);
drop function alike._others(name[]);
drop function alike._other(name[], bigint);
drop function alike._key_list(name[], text, text);
drop function alike._key_text(name[], text);
drop function alike._attachment(text);
drop function alike._attachment_of(regclass, text);
drop function alike._relation(text);
