// pgvector in PGlite, which is PostgreSQL compiled to WebAssembly.
//
//     node pgvector.mjs CACHE SIGNATURES N QUESTIONS ANSWERS
//
// SIGNATURES has the bits of a document a line, those to check in after the first N.
// CACHE is where .ci/setup put the packages. Prints an outcome as contender.go has it.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'

const [cache, signaturesFile, count, questionsFile, answersFile] = process.argv.slice(2)
const require = createRequire(cache + '/')
const { PGlite } = require('@electric-sql/pglite')
const { vector } = require('@electric-sql/pglite-pgvector')

const n = Number(count)
const signatures = readFileSync(signaturesFile, 'utf8').split('\n').filter(Boolean)
const questions = readFileSync(questionsFile, 'utf8').split('\n').filter(Boolean).map(Number)
const bits = signatures[0].length

const db = await PGlite.create({ extensions: { vector } })
await db.exec(`create extension vector; create table docs (id integer primary key, b bit(${bits}))`)
let began = performance.now()
const lap = () => { const now = performance.now(), s = (now - began) / 1000; began = now; return s }
for (let i = 0; i < n; i += 1000) {
  const rows = []
  for (let j = i; j < Math.min(n, i + 1000); j++) rows.push(`(${j}, '${signatures[j]}')`)
  await db.exec('insert into docs values ' + rows.join())
}
await db.exec("set maintenance_work_mem = '512MB'; create index docs_i on docs using hnsw (b bit_hamming_ops)")
const measures = { build: lap() }
const one = async (sql, ...args) => (await db.query(sql, args)).rows
measures.index_bytes = Number((await one("select pg_relation_size('docs_i') as n"))[0].n)

// One bit of a slot agrees by luck every other time: so far apart at 0.8.
const apart = Math.floor(bits * (1 - 0.8) / 2)
const near = b => db.query(`select id, b <~> $1 as distance from docs order by b <~> $1 limit 10`, [b])
const times = [], answers = []
const end = performance.now() + 10_000
for (const q of questions) {
  const start = performance.now()
  const { rows } = await near(signatures[q])
  times.push((performance.now() - start) / 1000)
  for (const r of rows) if (r.id !== q && r.distance <= apart) answers.push(`${q}\t${r.id}\n`)
  if (performance.now() > end) break
}
writeFileSync(answersFile, answers.join(''))
const asked = times.length
times.sort((a, b) => a - b)
if (asked > 0) {
  measures.query_p50 = times[Math.floor(asked / 2)]
  measures.query_p99 = times[Math.min(asked - 1, Math.floor(asked * 0.99))]
}
lap()
let done = 0, spent = 0
for (let i = n; i < signatures.length && spent < 5; i++) {
  await near(signatures[i])
  await db.query('insert into docs values ($1, $2)', [i, signatures[i]])
  done++
  spent += lap()
}
if (done > 0) measures.checkins = done / spent
const version = (await one("select 'pgvector ' || extversion || ', PostgreSQL ' || current_setting('server_version') || ' in PGlite' as v from pg_extension where extname = 'vector'"))[0].v
console.log(JSON.stringify({
  Version: version,
  Settings: `${bits} slots of one bit from our sketches, bit(${bits}), HNSW with bit_hamming_ops as it comes, the nearest 10, of which those at most ${apart} bits apart; WebAssembly, so that its times say little about a native build`,
  Measures: measures, Queried: asked, Answers: true,
}))
