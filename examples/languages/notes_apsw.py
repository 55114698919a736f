# Python with apsw, which brings a SQLite of its own: python notes_apsw.py FILE EXTENSION
import sys

import apsw

db = apsw.Connection(sys.argv[1])
db.enable_load_extension(True)
db.load_extension(sys.argv[2])

text = "Jörg’s café in Zürich opens at ten; 東京の支店 opens at nine, and both are closed on Sundays and on public holidays"
with db:
    db.execute("insert into notes (author, body) values ('apsw', ?)", (text,))
for (line,) in db.execute("select printf('%d %.2f', key, resemblance) from alike_rows_like('notes', ?)", (text,)):
    print(line)
print(db.execute("select hex(alike_sketch(?, 'words bits=8'))", (text,)).get)
