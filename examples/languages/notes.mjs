// Node's own SQLite (22.5 and later): node notes.mjs FILE EXTENSION
import { DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(process.argv[2], { allowExtension: true });
db.loadExtension(process.argv[3]);

const text = "Jörg’s café in Zürich opens at ten; 東京の支店 opens at nine, and both are closed on Sundays and on public holidays";
db.prepare("insert into notes (author, body) values ('node', ?)").run(text);
for (const row of db.prepare("select printf('%d %.2f', key, resemblance) as line from alike_rows_like('notes', ?)").all(text)) {
  console.log(row.line);
}
console.log(db.prepare("select hex(alike_sketch(?, 'text bits=8')) as sketch").get(text).sketch);
