// docs/clients/with_pg.mjs: the first call and the prepared statement give equal prompts; jsonb arrives as objects.
import assert from 'node:assert'
import pg from 'pg'
import { context, prompt } from './with_pg.mjs'

const client = new pg.Client()
await client.connect()
const { rows } = await client.query('SELECT question, embedding::text FROM questions ORDER BY id')
assert.strictEqual(rows.length, 8)
const ask = async () => { const all = []; for (const r of rows) all.push(await prompt(client, r.question, JSON.parse(r.embedding))); return all }
const prompts = await ask()
prompts.forEach((p, i) => assert.ok(p.endsWith('Question: ' + rows[i].question) && p.includes('Documents:\n[1] '), p))
assert.deepStrictEqual(await ask(), prompts)
const diabetes = await context(client, 'diabetes')
assert.strictEqual(diabetes.entity, 'diabetes')
assert.deepStrictEqual(diabetes.trees[0].ancestors.map((a) => a.entity), ['endocrine disease', 'condition'])
assert.strictEqual(await context(client, 'no such entity'), null)
await assert.rejects(client.query("SELECT cft_context_json('diabetes', -1)"), { code: '22023' })
assert.deepStrictEqual(await context(client, 'diabetes'), diabetes)
await client.end()
