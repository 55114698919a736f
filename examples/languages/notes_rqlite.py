# rqlite, a cluster of SQLite databases behind HTTP: python3 notes_rqlite.py URL, with its server started with
# -extensions-path. Its database is its own, so this one makes the table first, from notes.sql.
import json
import pathlib
import sys
import urllib.request


def call(what, *statements):
    request = urllib.request.Request(sys.argv[1] + "/db/" + what, json.dumps(statements).encode(), {"Content-Type": "application/json"})
    answer = json.load(urllib.request.urlopen(request))
    for result in answer["results"]:
        if "error" in result:
            sys.exit(result["error"])
    return answer["results"]


sql = pathlib.Path(__file__).with_name("notes.sql").read_text().split("\n", 1)[1]
call("execute", *[statement for statement in sql.split(";\n") if statement.strip()])

text = "Jörg’s café in Zürich opens at ten; 東京の支店 opens at nine, and both are closed on Sundays and on public holidays"
call("execute", ["insert into notes (author, body) values ('rqlite', ?)", text])
for (line,) in call("query", ["select printf('%d %.2f', key, resemblance) from alike_rows_like('notes', ?)", text])[0]["values"]:
    print(line)
print(call("query", ["select hex(alike_sketch(?, 'words bits=8'))", text])[0]["values"][0][0])
