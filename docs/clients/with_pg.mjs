// cftrag from Node.js by pg: npm install pg. An embedding goes in as text, '[0.1,0.2,...]', cast to vector.

export async function prompt(client, question, embedding) {
    const text = 'SELECT cft_prompt($1, $2::vector, k => 3, budget => 300) AS prompt'
    const { rows } = await client.query({ name: 'prompt', text, values: [question, JSON.stringify(embedding)] })
    return rows[0].prompt
}

// jsonb comes as an object: { entity, trees: [{ tree, ancestors: [{ entity, depth, via }], descendants }] }, or null.
export async function context(client, entity) {
    const { rows } = await client.query('SELECT cft_context_json($1::text) AS context', [entity])
    return rows[0].context
}
