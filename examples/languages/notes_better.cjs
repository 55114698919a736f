// Node with better-sqlite3: node notes_better.cjs FILE EXTENSION
const db = new (require("better-sqlite3"))(process.argv[2]);
db.loadExtension(process.argv[3]);

const text = "Jörg’s café in Zürich opens at ten; 東京の支店 opens at nine, and both are closed on Sundays and on public holidays";
db.prepare("insert into notes (author, body) values ('better-sqlite3', ?)").run(text);
for (const line of db.prepare("select printf('%d %.2f', key, resemblance) from alike_rows_like('notes', ?)").pluck().iterate(text)) {
  console.log(line);
}
// A feature has 64 bits, a number of JavaScript 53: without this, one is rounded.
console.log(String(db.prepare("select feature from alike_features(alike_sketch(?, 'words')) where slot = 1").safeIntegers().pluck().get(text)));
console.log(db.prepare("select hex(alike_sketch(?, 'words bits=8'))").pluck().get(text));
