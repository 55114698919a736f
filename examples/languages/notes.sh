#!/usr/bin/env bash
# The sqlite3 shell: notes.sh FILE EXTENSION
sqlite3 "$1" <<SQL
.load $2
.parameter init
.parameter set :text "'Jörg’s café in Zürich opens at ten; 東京の支店 opens at nine, and both are closed on Sundays and on public holidays'"
insert into notes (author, body) values ('shell', :text);
select printf('%d %.2f', key, resemblance) from alike_rows_like('notes', :text);
select hex(alike_sketch(:text, 'words bits=8'));
SQL
