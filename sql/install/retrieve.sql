-- From a question to its context. STABLE: all that a call reads is of one snapshot, the caller's; and with the caller's rights.
-- No text of the caller becomes SQL: names come from the catalog, values are parameters.

CREATE FUNCTION cft_nearest_documents(embedding vector, k integer DEFAULT 5, documents regclass DEFAULT NULL)
RETURNS TABLE(document_id text, entity text, body text, tokens integer, distance float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 5 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF num_nulls(embedding, k) > 0 THEN RETURN; END IF;
    RETURN QUERY EXECUTE @extschema@.cft_kept_statement('nearest', documents) USING embedding, k;
END $$;
COMMENT ON FUNCTION cft_nearest_documents(vector, integer, regclass) IS
'the k documents nearest to an embedding, by the operator of the index on their column, else by cosine distance';

CREATE FUNCTION cft_nearest_entities(embedding vector, k integer DEFAULT 5, edges regclass DEFAULT NULL, documents regclass DEFAULT NULL)
RETURNS TABLE(entity text, distance float8, score float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 5 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    forest regclass;
    a record;
    o record;
BEGIN
    IF num_nulls(embedding, k) > 0 THEN RETURN; END IF;
    SELECT f.edges INTO forest FROM @extschema@.cft_attached(edges) AS f;
    SELECT c.relation, c.columns ->> 'entity' AS entity, c.columns ->> 'embedding' AS embedding INTO a
      FROM @extschema@.cft_columns('@extschema@.cft_entity_embeddings()') AS c WHERE c.other = forest LIMIT 1;
    IF FOUND THEN
        SELECT * INTO o FROM @extschema@.cft_distance(a.relation, a.embedding);
        RETURN QUERY EXECUTE format(
            'SELECT n.entity::text, n.distance, %6$s
               FROM (SELECT d.%1$I AS entity, d.%2$I %3$s $1::%4$s AS distance FROM %5$s AS d
                      WHERE d.%2$I IS NOT NULL AND d.%1$I IS NOT NULL ORDER BY d.%2$I %3$s $1::%4$s FETCH FIRST ($2) ROWS WITH TIES) AS n
              ORDER BY n.distance, n.entity::text COLLATE "C" LIMIT $2',
            a.entity, a.embedding, o.operator, o.type, a.relation, CASE WHEN o.cosine THEN '1 - n.distance' ELSE '- n.distance' END)
        USING embedding, k;
    ELSE
        -- Documents that belong to entities stand for them.
        SELECT d.relation, d.embedding INTO a FROM @extschema@.cft_attached_documents(documents) AS d;
        SELECT * INTO o FROM @extschema@.cft_distance(a.relation, a.embedding);
        RETURN QUERY
        SELECT z.entity, z.distance, CASE WHEN o.cosine THEN 1 - z.distance ELSE - z.distance END
          FROM (SELECT DISTINCT ON (n.entity COLLATE "C") n.entity, n.distance
                  FROM @extschema@.cft_nearest_documents(embedding, k, a.relation) AS n
                 WHERE n.entity IS NOT NULL ORDER BY n.entity COLLATE "C", n.distance) AS z
         ORDER BY z.distance, z.entity COLLATE "C";
    END IF;
END $$;
COMMENT ON FUNCTION cft_nearest_entities(vector, integer, regclass, regclass) IS
'the entities nearest to an embedding: by cft_attach_entities, else those of the k nearest documents; score is 1 - cosine distance, else minus the distance';

-- The baselines of the papers, to compare with (mode of cft_retrieve).

CREATE FUNCTION cft_parts_by_reference(entities text[], up integer, down integer, edges regclass)
RETURNS TABLE(entity text, tree text, relation text, text text)
LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 20 SET cftrag.enable = off AS $$
    SELECT p.* FROM @extschema@.cft_context_parts($1, $2, $3, $4) AS p $$;
COMMENT ON FUNCTION cft_parts_by_reference(text[], integer, integer, regclass) IS 'cft_context_parts by the reference query';

CREATE FUNCTION cft_parts_by_search(entities text[], up integer DEFAULT 3, down integer DEFAULT 1, edges regclass DEFAULT NULL)
RETURNS TABLE(entity text, tree text, relation text, text text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    f record;
    found_there text[];
BEGIN
    SELECT * INTO f FROM @extschema@.cft_attached(edges);
    EXECUTE format(
        'WITH RECURSIVE e AS NOT MATERIALIZED (
             SELECT %1$s AS tree, r.%2$I::text COLLATE "C" AS parent, r.%3$I::text COLLATE "C" AS child FROM %4$s AS r
              WHERE r.%2$I IS NOT NULL AND r.%3$I IS NOT NULL),
         search(tree, node) AS (
             SELECT e.tree, e.parent FROM e
              WHERE NOT EXISTS (SELECT FROM e AS above WHERE above.child = e.parent AND above.tree = e.tree)
             UNION
             SELECT e.tree, e.child FROM search AS s JOIN e ON e.parent = s.node AND e.tree = s.tree)
         SELECT array_agg(q.name ORDER BY q.place) FROM unnest($1) WITH ORDINALITY AS q(name, place)
          WHERE q.name COLLATE "C" IN (SELECT s.node FROM search AS s)',
        CASE WHEN f.tree IS NULL THEN '''''::text' ELSE format('coalesce(r.%I::text COLLATE "C", '''')', f.tree) END, f.parent, f.child, f.edges)
    INTO found_there USING entities;
    RETURN QUERY SELECT p.entity, p.tree, p.relation, p.text FROM @extschema@.cft_parts_by_reference(found_there, up, down, f.edges) AS p;
END $$;
COMMENT ON FUNCTION cft_parts_by_search(text[], integer, integer, regclass) IS
'cft_context_parts as T-RAG does it: each entity is looked for from the roots of all trees, breadth first; then its relatives, level by level';

CREATE FUNCTION cft_neighbours(entities text[], hops integer DEFAULT 1, edges regclass DEFAULT NULL)
RETURNS TABLE(entity text, text text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 5 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    start text;
    edge_of_it text[];
    reached text[];
BEGIN
    FOREACH start IN ARRAY entities LOOP
        edge_of_it := ARRAY[start];
        reached := '{}';
        FOR hop IN 1 .. hops LOOP
            edge_of_it := ARRAY(SELECT c.relative COLLATE "C" FROM @extschema@.cft_context(edge_of_it, 1, 1, edges) AS c
                                EXCEPT SELECT unnest(reached) COLLATE "C" EXCEPT SELECT start COLLATE "C" ORDER BY 1);
            EXIT WHEN edge_of_it = '{}';
            reached := reached || edge_of_it;
        END LOOP;
        IF reached <> '{}' THEN
            entity := start;
            text := format('The neighbours of %s within %s %s are: %s.', start, hops, CASE hops WHEN 1 THEN 'step' ELSE 'steps' END,
                           array_to_string(reached, CASE WHEN strpos(array_to_string(reached, ' '), ',') > 0 THEN '; ' ELSE ', ' END));
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION cft_neighbours(text[], integer, regclass) IS
'entities within so many steps of each entity, whatever the tree and the direction, the nearest first, as a sentence';

-- A sentence of cft_context_parts that says no more than fits, the nearest relatives first; NULL if not even one does.
CREATE FUNCTION cft_shortened(entity text, tree text, relation text, sentence text, room integer, up integer, down integer, edges regclass)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    names text[] := (SELECT array_agg(c.relative ORDER BY c.depth, c.relative COLLATE "C") FROM @extschema@.cft_context(ARRAY[entity], up, down, edges) AS c
                      WHERE c.tree IS NOT DISTINCT FROM cft_shortened.tree AND c.relation = cft_shortened.relation);
    between text := CASE WHEN strpos(array_to_string(names, ' '), ',') > 0 THEN '; ' ELSE ', ' END;
    list text := array_to_string(names, between);
    head text := left(sentence, - char_length(list) - 1);
    said text := '';
    shorter text;
    short_of text;
BEGIN
    IF sentence IS DISTINCT FROM head || list || '.' THEN RETURN NULL; END IF;
    FOR n IN 1 .. cardinality(names) - 1 LOOP
        said := said || CASE n WHEN 1 THEN '' ELSE between END || names[n];
        shorter := format('%s%s and %s more.', head, said, cardinality(names) - n);
        EXIT WHEN (char_length(shorter) + 3) / 4 > room;
        short_of := shorter;
    END LOOP;
    RETURN short_of;
END $$;
COMMENT ON FUNCTION cft_shortened(text, text, text, text, integer, integer, integer, regclass) IS
'a sentence about an entity''s relatives, shortened to so many tokens: "A, B and 98 more."';

CREATE FUNCTION cft_retrieve(question text, embedding vector, k integer DEFAULT 5, up integer DEFAULT 3, down integer DEFAULT 1,
    budget integer DEFAULT NULL, mode text DEFAULT 'cft', edges regclass DEFAULT NULL, documents regclass DEFAULT NULL, chunks integer DEFAULT NULL)
RETURNS TABLE(source text, entity text, document_id text, rank integer, distance float8, text text, tokens integer, why text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    -- Which table of documents is meant, and whether they belong to entities.
    which text;
    attached regclass;
    has_entities boolean;
    names text[] := '{}';
    whys text[] := '{}';
    said_of text[];
    said_trees text[];
    said_relations text[];
    said text[];
    shorter text;
    sources text[];
    entities text[];
    ids text[];
    ranks int[];
    distances float8[];
    texts text[];
    sizes int[];
    reasons text[];
    taken boolean[];
    left_over int := budget;
    row_at int;
BEGIN
    IF num_nulls(k, up, down, mode) > 0 THEN
        RAISE EXCEPTION 'k, up, down and mode must not be null' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF least(k, up, down, budget, chunks) < 0 THEN
        RAISE EXCEPTION 'k, up, down, budget and chunks must not be negative' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF mode NOT IN ('cft', 'text', 'naive', 'ann_tree', 'ann_graph') THEN
        RAISE EXCEPTION 'there is no mode "%"', mode USING ERRCODE = 'invalid_parameter_value',
            HINT = 'The modes are cft, text, naive, ann_tree and ann_graph.';
    END IF;
    -- Without an embedding the documents may be missing.
    which := @extschema@.cft_kept_statement(CASE WHEN documents IS NULL AND embedding IS NULL THEN 'documents, if any' ELSE 'documents' END, documents);
    attached := nullif(split_part(which, ' ', 1), '')::oid;
    has_entities := split_part(which, ' ', 2) = 'true';

    IF mode IN ('cft', 'naive') THEN
        SELECT array_agg(m.entity ORDER BY m.place, m.entity COLLATE "C"), array_agg(m.why ORDER BY m.place, m.entity COLLATE "C") INTO names, whys
          FROM (SELECT DISTINCT ON (e.entity COLLATE "C") e.entity, e.start AS place,
                       format('mentioned as "%s"', e.mention) || coalesce(', by the alias "' || e.via_alias || '"', '') AS why
                  FROM @extschema@.cft_entities(question, edges) AS e ORDER BY e.entity COLLATE "C", e.start, e.via_alias NULLS FIRST) AS m;
    ELSIF mode IN ('ann_tree', 'ann_graph') THEN
        SELECT array_agg(n.entity ORDER BY n.distance, n.entity COLLATE "C"),
               array_agg(format('one of the nearest entities, distance %s', round(n.distance::numeric, 4)) ORDER BY n.distance, n.entity COLLATE "C") INTO names, whys
          FROM @extschema@.cft_nearest_entities(embedding, k, edges, attached) AS n;
    END IF;
    names := coalesce(names, '{}');

    -- A statement for each mode, so that a kept plan of the next one does for all.
    IF names = '{}' THEN
        NULL;
    ELSIF mode IN ('cft', 'ann_tree') THEN
        SELECT array_agg(p.entity ORDER BY p.n), array_agg(p.tree ORDER BY p.n), array_agg(p.relation ORDER BY p.n), array_agg(p.text ORDER BY p.n)
          INTO said_of, said_trees, said_relations, said
          FROM @extschema@.cft_context_parts(names, up, down, edges) WITH ORDINALITY AS p(entity, tree, relation, text, n);
    ELSIF mode = 'naive' THEN
        SELECT array_agg(p.entity ORDER BY p.n), array_agg(p.tree ORDER BY p.n), array_agg(p.relation ORDER BY p.n), array_agg(p.text ORDER BY p.n)
          INTO said_of, said_trees, said_relations, said
          FROM @extschema@.cft_parts_by_search(names, up, down, edges) WITH ORDINALITY AS p(entity, tree, relation, text, n);
    ELSE
        SELECT array_agg(p.entity ORDER BY p.n), array_agg(p.text ORDER BY p.n) INTO said_of, said
          FROM @extschema@.cft_neighbours(names, greatest(down, 1), edges) WITH ORDINALITY AS p(entity, text, n);
    END IF;

    WITH d AS (
        SELECT n.document_id, n.entity, n.body, n.tokens, n.distance, n.rank::int
          FROM @extschema@.cft_nearest_documents(embedding, k, attached) WITH ORDINALITY AS n(document_id, entity, body, tokens, distance, rank)
    ), h AS (
        SELECT p.entity, p.text, p.n::int AS rank FROM unnest(said_of, said) WITH ORDINALITY AS p(entity, text, n)
    ), c AS (
        SELECT n.*, (row_number() OVER (ORDER BY n.place))::int AS rank
          FROM @extschema@.cft_chunks(CASE WHEN has_entities AND names <> '{}' AND chunks IS DISTINCT FROM 0 THEN names END, up, down, edges, attached, embedding)
               WITH ORDINALITY AS n(entity, relation, depth, relative, document_id, body, tokens, distance, place)
         WHERE NOT EXISTS (SELECT FROM d WHERE (d.document_id, d.body) IS NOT DISTINCT FROM (n.document_id, n.body))
         ORDER BY n.place LIMIT coalesce(chunks, k)
    ), r(place, source, entity, document_id, rank, distance, text, tokens, why) AS (
        SELECT 1, 'document', d.entity, d.document_id, d.rank, d.distance, d.body, d.tokens, format('number %s of the %s nearest documents', d.rank, k) FROM d
        UNION ALL
        SELECT 2, 'hierarchy', h.entity, NULL, h.rank, NULL, h.text, (char_length(h.text) + 3) / 4, whys[array_position(names, h.entity)] FROM h
        UNION ALL
        SELECT 3, 'chunk', c.relative, c.document_id, c.rank, c.distance, c.body, c.tokens,
               CASE c.depth WHEN 0 THEN format('about "%s", ', c.entity)
                            ELSE format('about %s of "%s" (depth %s), ', CASE c.relation WHEN 'ancestor' THEN 'an ancestor' ELSE 'a descendant' END, c.entity, c.depth) END || whys[array_position(names, c.entity)] FROM c
    )
    SELECT array_agg(r.source ORDER BY r.place, r.rank), array_agg(r.entity ORDER BY r.place, r.rank), array_agg(r.document_id ORDER BY r.place, r.rank),
           array_agg(r.rank ORDER BY r.place, r.rank), array_agg(r.distance ORDER BY r.place, r.rank), array_agg(r.text ORDER BY r.place, r.rank),
           array_agg(r.tokens ORDER BY r.place, r.rank), array_agg(r.why ORDER BY r.place, r.rank)
      INTO sources, entities, ids, ranks, distances, texts, sizes, reasons FROM r;

    -- The sources take turns, hierarchy first: each its next row, if there is room for it. A sentence about too many relatives names the
    -- nearest of them, in half of the room: no hub crowds out the documents.
    IF budget IS NOT NULL THEN
        taken := array_fill(false, ARRAY[coalesce(cardinality(sources), 0)]);
        FOR row_at IN SELECT u.n FROM unnest(sources, ranks) WITH ORDINALITY AS u(source, rank, n)
                       ORDER BY u.rank, array_position('{hierarchy,document,chunk}', u.source) LOOP
            IF sizes[row_at] <= left_over THEN
                taken[row_at] := true;
                left_over := left_over - sizes[row_at];
            ELSIF said_relations[ranks[row_at]] IS NOT NULL AND sources[row_at] = 'hierarchy' THEN
                shorter := @extschema@.cft_shortened(entities[row_at], said_trees[ranks[row_at]], said_relations[ranks[row_at]], texts[row_at],
                                                     left_over / 2, up, down, edges);
                IF shorter IS NOT NULL THEN
                    taken[row_at] := true;
                    texts[row_at] := shorter;
                    sizes[row_at] := (char_length(shorter) + 3) / 4;
                    left_over := left_over - sizes[row_at];
                END IF;
            END IF;
        END LOOP;
    END IF;
    RETURN QUERY
    SELECT u.source, u.entity, u.document_id, u.rank, u.distance, u.text, u.tokens, u.why
      FROM unnest(sources, entities, ids, ranks, distances, texts, sizes, reasons)
           WITH ORDINALITY AS u(source, entity, document_id, rank, distance, text, tokens, why, n)
     WHERE taken IS NULL OR taken[u.n] ORDER BY u.n;
END $$;
COMMENT ON FUNCTION cft_retrieve(text, vector, integer, integer, integer, integer, text, regclass, regclass, integer) IS
'what belongs to a question: the nearest documents, the hierarchy of the entities it mentions, and documents about these; each row says why it is here';

CREATE FUNCTION cft_prompt(question text, embedding vector, template text DEFAULT NULL, k integer DEFAULT 5, up integer DEFAULT 3,
    down integer DEFAULT 1, budget integer DEFAULT NULL, mode text DEFAULT 'cft', edges regclass DEFAULT NULL, documents regclass DEFAULT NULL,
    chunks integer DEFAULT NULL)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own text := coalesce(template, nullif(current_setting('cftrag.prompt_template', true), ''));
    prompt text;
BEGIN
    IF own IS NOT NULL THEN
        SELECT @extschema@.cft_render(own, jsonb_build_object('question', question,
                   'documents', coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.rank) FILTER (WHERE r.source = 'document'), '[]'),
                   'hierarchy', coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.rank) FILTER (WHERE r.source = 'hierarchy'), '[]'),
                   'chunks', coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.rank) FILTER (WHERE r.source = 'chunk'), '[]')))
          INTO prompt FROM @extschema@.cft_retrieve(question, embedding, k, up, down, budget, mode, edges, documents, chunks) AS r;
        RETURN prompt;
    END IF;
    SELECT 'Answer the question from the context below. If the context does not hold the answer, say so.'
           || coalesce(E'\n\nDocuments:\n' || string_agg(format('[%s] %s', r.n, r.text), E'\n' ORDER BY r.n) FILTER (WHERE r.source <> 'hierarchy'), '')
           || coalesce(E'\n\nHierarchy:\n' || string_agg(r.text, E'\n' ORDER BY r.rank) FILTER (WHERE r.source = 'hierarchy'), '')
           || E'\n\nQuestion: ' || question
      INTO prompt
      FROM (SELECT z.*, row_number() OVER (PARTITION BY z.source = 'hierarchy' ORDER BY z.source DESC, z.rank) AS n
              FROM @extschema@.cft_retrieve(question, embedding, k, up, down, budget, mode, edges, documents, chunks) AS z) AS r;
    RETURN prompt;
END $$;
COMMENT ON FUNCTION cft_prompt(text, vector, text, integer, integer, integer, integer, text, regclass, regclass, integer) IS
'a prompt of what cft_retrieve returns, the same bytes for the same data; or by a template over question, documents, hierarchy, chunks';

CREATE FUNCTION cft_resolve(mention text, embedding vector DEFAULT NULL, k integer DEFAULT 5, edges regclass DEFAULT NULL)
RETURNS TABLE(entity text, score float8, method text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 5 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    f record;
    trgm name;
    found_here int := 0;
    before text[];
BEGIN
    IF num_nulls(mention, k) > 0 THEN RETURN; END IF;
    IF k < 0 THEN
        RAISE EXCEPTION 'k must not be negative' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT * INTO f FROM @extschema@.cft_attached(edges);
    -- A name is a name: only for what is none the others are asked.
    RETURN QUERY SELECT mention, 1::float8, 'exact' WHERE k > 0 AND EXISTS (SELECT FROM @extschema@.cft_context(mention, 1, 1, f.edges));
    IF FOUND THEN RETURN; END IF;
    RETURN QUERY
    SELECT z.entity, 1::float8, z.method
      FROM (SELECT DISTINCT ON (e.entity COLLATE "C") e.entity, CASE WHEN e.via_alias IS NULL THEN 'folded' ELSE 'alias' END AS method
              FROM @extschema@.cft_entities(mention, f.edges) AS e
             WHERE @extschema@.cft_form(e.mention) = @extschema@.cft_form(cft_resolve.mention)
             ORDER BY e.entity COLLATE "C", e.via_alias NULLS FIRST) AS z
     ORDER BY z.method DESC, z.entity COLLATE "C" LIMIT k;
    IF FOUND THEN RETURN; END IF;
    SELECT n.nspname INTO trgm FROM pg_extension AS x JOIN pg_namespace AS n ON n.oid = x.extnamespace WHERE x.extname = 'pg_trgm';
    IF FOUND THEN
        EXECUTE format(
            'SELECT array_agg(z.name ORDER BY z.similarity DESC, z.name) FROM (
                 SELECT n.name, %1$I.similarity(n.name, $1) AS similarity
                   FROM (SELECT r.%2$I::text COLLATE "C" AS name FROM %4$s AS r WHERE r.%2$I::text OPERATOR(%1$I.%%) $1 AND r.%3$I IS NOT NULL
                         UNION
                         SELECT r.%3$I::text COLLATE "C" FROM %4$s AS r WHERE r.%3$I::text OPERATOR(%1$I.%%) $1 AND r.%2$I IS NOT NULL) AS n
                  ORDER BY 2 DESC, 1 LIMIT $2) AS z', trgm, f.parent, f.child, f.edges) INTO before USING mention, k;
        RETURN QUERY EXECUTE format('SELECT u.name, %I.similarity(u.name, $2)::float8, ''trigram'' FROM unnest($1) AS u(name)', trgm) USING before, mention;
        found_here := coalesce(cardinality(before), 0);
    END IF;
    IF embedding IS NOT NULL AND found_here < k
       AND (EXISTS (SELECT FROM @extschema@.cft_columns('@extschema@.cft_entity_embeddings()') AS c WHERE c.other = f.edges)
            OR (SELECT count(*) FROM @extschema@.cft_columns('@extschema@.cft_documents()') AS c WHERE c.by_itself) = 1) THEN
        RETURN QUERY
        SELECT n.entity, n.score, 'nearest' FROM @extschema@.cft_nearest_entities(embedding, k, f.edges) AS n
         WHERE before IS NULL OR n.entity <> ALL (before) ORDER BY n.distance, n.entity COLLATE "C" LIMIT k - found_here;
    END IF;
END $$;
COMMENT ON FUNCTION cft_resolve(text, vector, integer, regclass) IS
'which entity a mention may mean: exact, folded or by alias; else the most similar by trigrams (with pg_trgm), then the nearest by embedding';
