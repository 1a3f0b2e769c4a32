// docs/clients/with_postgres.mjs: lists of names and of ids arrive as lists, and prompts are those of SQL.
import assert from 'node:assert'
import postgres from 'postgres'
import { prompt, relatives, relativesOfIds } from './with_postgres.mjs'

const sql = postgres({ host: process.env.PGHOST, port: process.env.PGPORT, username: process.env.PGUSER, database: process.env.PGDATABASE, onnotice: () => {} })
const [asked] = await sql`SELECT question, embedding::text FROM questions ORDER BY id`
const [own] = await sql`SELECT cft_prompt(question, embedding, k => 3, budget => 300) AS prompt FROM questions ORDER BY id LIMIT 1`
assert.strictEqual(await prompt(sql, asked.question, JSON.parse(asked.embedding)), own.prompt)
const rows = await relatives(sql, ['diabetes', 'COPD'])
assert.deepStrictEqual([...new Set(rows.map((row) => row.entity))], ['diabetes', 'COPD'])
assert.deepStrictEqual(rows.find((row) => row.entity === 'diabetes'), { entity: 'diabetes', relation: 'ancestor', depth: 1, relative: 'endocrine disease' })
// What the comment says of a list without a type.
assert.strictEqual((await sql`SELECT FROM cft_context(${['diabetes', 'COPD']})`).length, 0)
await sql`CREATE TABLE numbers (parent int, child int)`
await sql`INSERT INTO numbers VALUES (1, 2), (2, 3), (1, 4)`
await sql`SELECT cft_attach('numbers')`
assert.deepStrictEqual((await relativesOfIds(sql, [3, 4], 'numbers')).map((row) => [row.entity, row.relative]), [['3', '2'], ['3', '1'], ['4', '1']])
await sql`DROP TABLE numbers`
await sql.end()
