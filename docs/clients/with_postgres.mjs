// cftrag from Node.js by postgres.js: npm install postgres. An embedding goes in as text, '[0.1,0.2,...]', cast to vector.

export async function prompt(sql, question, embedding) {
    const rows = await sql`SELECT cft_prompt(${question}, ${JSON.stringify(embedding)}::vector, k => 3, budget => 300) AS prompt`
    return rows[0].prompt
}

// A list needs its type, or the name of its argument: cft_context(${['a', 'b']}) alone would ask for one entity that is called "a,b".
export async function relatives(sql, entities) {
    return await sql`SELECT entity, relation, depth, relative FROM cft_context(${entities}::text[])`
}

export async function relativesOfIds(sql, ids, edges) {
    return await sql`SELECT entity, relation, depth, relative FROM cft_context(ids => ${ids}::bigint[], edges => ${edges}::text::regclass)`
}
