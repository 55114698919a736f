-- The database that all the programs share: a table with the aspect attached.
create table notes (id integer primary key, author text, body text);
insert into notes (author, body) values
  ('first', 'Jörg’s café in Zürich opens at ten; 東京の支店 opens at nine, and both are closed on Sundays and on public feasts'),
  ('other', 'The quarterly report is late again because nobody knows where the figures for February went after the move');
select alike_attach('notes', 'body') || ' notes sketched';
