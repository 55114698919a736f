// Node's own SQLite (22.5 and later): node notes.mjs FILE EXTENSION
import { DatabaseSync } from "node:sqlite";

const db = new DatabaseSync(process.argv[2], { allowExtension: true });
db.loadExtension(process.argv[3]);

const text = "Jörg’s café in Zürich opens at ten; 東京の支店 opens at nine, and both are closed on Sundays and on public holidays";
db.prepare("insert into notes (author, body) values ('node', ?)").run(text);
for (const row of db.prepare("select printf('%d %.2f', key, resemblance) as line from alike_rows_like('notes', ?)").all(text)) {
  console.log(row.line);
}
// A feature has 64 bits, a number of JavaScript 53: without this, reading one throws.
const feature = db.prepare("select feature from alike_features(alike_sketch(?, 'words')) where slot = 1");
feature.setReadBigInts(true);
console.log(String(feature.get(text).feature));
console.log(db.prepare("select hex(alike_sketch(?, 'words bits=8')) as sketch").get(text).sketch);
