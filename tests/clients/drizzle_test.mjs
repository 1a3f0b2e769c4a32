// docs/clients/with_drizzle.mjs: a condition composes with a query of Drizzle's, lists arrive as lists, prompts are those of SQL.
import assert from 'node:assert'
import { asc } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { prompt, relatives, under } from './with_drizzle.mjs'

const pool = new pg.Pool()
const db = drizzle(pool)
const documents = pgTable('documents', { id: text('id'), entity: text('entity') })
const [asked] = (await pool.query('SELECT question, embedding::text, cft_prompt(question, embedding, k => 3, budget => 300) AS prompt FROM questions ORDER BY id LIMIT 1')).rows
assert.strictEqual(await prompt(db, asked.question, JSON.parse(asked.embedding)), asked.prompt)
const rows = await relatives(db, ['diabetes', 'COPD'])
assert.deepStrictEqual([...new Set(rows.map((row) => row.entity))], ['diabetes', 'COPD'])
const below = await db.select({ id: documents.id }).from(documents).where(under(documents.entity, 'disease')).orderBy(asc(documents.id))
const wanted = (await pool.query("SELECT id::text FROM documents WHERE entity = ANY (cft_descendants('disease')) OR entity = 'disease' ORDER BY documents.id::text")).rows
assert.deepStrictEqual(below.map((row) => String(row.id)).sort(), wanted.map((row) => row.id).sort())
await pool.end()
