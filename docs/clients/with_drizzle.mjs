// cftrag from Drizzle: npm install drizzle-orm pg. Drizzle writes a list as (a, b): sql.param keeps it one value, which needs its type.
import { sql } from 'drizzle-orm'

// A condition for .where(): rows whose entity is that one or below it.
export const under = (column, entity) => sql`cft_under(${column}, ${entity}::text)`

export async function prompt(db, question, embedding) {
    const { rows } = await db.execute(sql`SELECT cft_prompt(${question}, ${JSON.stringify(embedding)}::vector, k => 3, budget => 300) AS prompt`)
    return rows[0].prompt
}

export async function relatives(db, entities) {
    const { rows } = await db.execute(sql`SELECT entity, relation, depth, relative FROM cft_context(${sql.param(entities)}::text[])`)
    return rows
}
