create table documents (id integer primary key, body text);
insert into documents (body) values
  ('The harbour committee met on Tuesday and agreed to postpone the vote on the new breakwater until the engineers have reported in full.'),
  ('The library is closed for the holidays from the twentieth of December and opens again on the third of January at nine.');
select alike_attach('documents', 'body', '{"policy": "link"}');
insert into documents (body) values
  ('MINUTES. The Harbour Committee met on Tuesday and agreed to postpone the vote on the new breakwater, until the engineers have reported in full!');
select key from alike_rows('documents', 3);
select other from documents_alike_match where id = 3;
select hex(alike_sketch('a rose is a rose is a rose', 'words w=2 bits=8'));
