-- From a question to its context. STABLE: a call reads everything with one snapshot, the caller's, and with the caller's rights.
-- No text from the caller becomes SQL: names come from the catalog, values are parameters.

-- The session keeps the plans: searches of all documents use a generic plan, searches within entities are planned for each call.
CREATE FUNCTION cftrag_internal.cft_nearest_documents(embedding vector, k integer, edges regclass, trees text[], within text[], documents regclass, filter jsonb)
RETURNS TABLE(document_id text, entity text, body text, tokens integer, distance float8)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 5 SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cft_nearest_documents_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_nearest_documents(vector, integer, regclass, text[], text[], regclass, jsonb) IS 'what cft_nearest_documents calls';

CREATE FUNCTION cft_nearest_documents(embedding vector, k integer DEFAULT 5, edges regclass DEFAULT NULL, within text[] DEFAULT NULL, documents regclass DEFAULT NULL,
    filter jsonb DEFAULT NULL)
RETURNS TABLE(document_id text, entity text, body text, tokens integer, distance float8)
LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 5
BEGIN ATOMIC SELECT f.* FROM cftrag_internal.cft_nearest_documents($1, $2, cftrag_internal.cft_meant_edges($3), NULL, $4, cftrag_internal.cft_meant_documents($5), $6) AS f; END;
COMMENT ON FUNCTION cft_nearest_documents(vector, integer, regclass, text[], regclass, jsonb) IS
'the k documents nearest to an embedding (about entities within these, with these metadata), all k while there are so many: by the operator of the index on their column, else by cosine distance';

CREATE FUNCTION cftrag_internal.cft_nearest_embeddings(embedding vector, k integer, edges regclass, trees text[], within text[])
RETURNS TABLE(entity text, distance float8, score float8, label text)
LANGUAGE c STABLE PARALLEL SAFE COST 1000 ROWS 5 SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cft_nearest_embeddings_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_nearest_embeddings(vector, integer, regclass, text[], text[]) IS 'the entities nearest to an embedding, of the table of cft_attach_embeddings';

CREATE FUNCTION cftrag_internal.cft_nearest_entities(embedding vector, k integer, edges regclass, trees text[], within text[], documents regclass, filter jsonb)
RETURNS TABLE(entity text, distance float8, score float8, label text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 5 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    forest regclass;
    a record;
    o record;
BEGIN
    IF num_nulls(embedding, k) > 0 THEN RETURN; END IF;
    SELECT f.edges INTO forest FROM cftrag_internal.cft_attached(edges) AS f;
    IF EXISTS (SELECT FROM cftrag_internal.cft_columns('cftrag_internal.cft_entity_embeddings()', NULL, forest) AS c WHERE c.other = forest) THEN
        IF filter IS NOT NULL THEN
            PERFORM cftrag_internal.cft_has_metadata(c.relation, NULL, 0) FROM cftrag_internal.cft_columns('cftrag_internal.cft_entity_embeddings()', NULL, forest) AS c;
        END IF;
        RETURN QUERY SELECT n.* FROM cftrag_internal.cft_nearest_embeddings(embedding, k, forest, trees, within) AS n;
    ELSE
        -- Without embeddings of entities, the embeddings of the documents about them are searched.
        SELECT d.relation, d.embedding INTO a
          FROM cftrag_internal.cft_attached_documents(split_part(cftrag_internal.cft_kept_statement('documents', documents), ' ', 1)::oid) AS d;
        SELECT * INTO o FROM cftrag_internal.cft_distance(a.relation, a.embedding);
        -- On one line: an error quotes the statement in its CONTEXT.
        RETURN QUERY SELECT n.entity, min(n.distance), CASE WHEN o.cosine THEN 1 - min(n.distance) ELSE - min(n.distance) END, cftrag_internal.cft_label(n.entity, forest) FROM cftrag_internal.cft_nearest_documents(embedding, k, forest, trees, within, a.relation, filter) AS n WHERE n.entity IS NOT NULL GROUP BY n.entity ORDER BY 2, n.entity COLLATE "C";
    END IF;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_nearest_entities(vector, integer, regclass, text[], text[], regclass, jsonb) IS 'what cft_nearest_entities calls';

CREATE FUNCTION cft_nearest_entities(embedding vector, k integer DEFAULT 5, edges regclass DEFAULT NULL, within text[] DEFAULT NULL, documents regclass DEFAULT NULL,
    filter jsonb DEFAULT NULL)
RETURNS TABLE(entity text, distance float8, score float8, label text)
LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 5
BEGIN ATOMIC SELECT f.* FROM cftrag_internal.cft_nearest_entities($1, $2, cftrag_internal.cft_meant_edges($3), NULL, $4, cftrag_internal.cft_meant_documents($5), $6) AS f; END;
COMMENT ON FUNCTION cft_nearest_entities(vector, integer, regclass, text[], regclass, jsonb) IS
'the entities nearest to an embedding (within these): by cft_attach_embeddings, else those of the k nearest documents; score is 1 - cosine distance, else minus the distance';

-- A text search query for any word of a text (of its first 100,000 characters: the size of a tsvector is limited); NULL if only stop words are left.
CREATE FUNCTION cftrag_internal.cft_any_word(config regconfig, question text) RETURNS tsquery
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$ SELECT string_agg('''' || replace(replace(w.lexeme, E'\\', E'\\\\'), '''', '''''') || '''', ' | ')::tsquery FROM unnest(to_tsvector(config, left(question, 100000))) AS w $$;
COMMENT ON FUNCTION cftrag_internal.cft_any_word(regconfig, text) IS 'any word of a text, as a query of text search; NULL if it has none';

CREATE FUNCTION cftrag_internal.cft_documents_by_words(question text, embedding vector, k integer, edges regclass, trees text[], within text[], documents regclass, filter jsonb)
RETURNS TABLE(document_id text, entity text, body text, tokens integer, distance float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    config regconfig := coalesce(nullif(cftrag_internal.cft_kept_statement('words configuration', documents), '')::regconfig, get_current_ts_config());
BEGIN
    RETURN QUERY EXECUTE cftrag_internal.cft_kept_statement(concat('words ', k, CASE WHEN within IS NOT NULL THEN ' within' END, CASE WHEN filter IS NOT NULL THEN ' filter' END, ' ties'), documents)
    USING embedding, within, edges, filter, trees, cftrag_internal.cft_any_word(config, question);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_documents_by_words(text, vector, integer, regclass, text[], text[], regclass, jsonb) IS
'the documents that have the most of a text''s words, by ts_rank';

-- Reciprocal rank fusion (Cormack, Clarke, Buettcher: Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods, SIGIR 2009): a
-- document's score is the sum of 1 / (60 + its place) over the lists that have it. The lists are the nearest documents, the documents with the most words of
-- the question, and those about its entities and their relatives. Each has 40 rows (what an HNSW index returns at once), or k if that is more. If k is NULL, there are none.
CREATE FUNCTION cftrag_internal.cft_fused(question text, embedding vector, k integer, entities text[], up integer, down integer, edges regclass, trees text[], within text[],
    documents regclass, filter jsonb)
RETURNS TABLE(document_id text, entity text, body text, tokens integer, distance float8, lists text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 5 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    most int := greatest(k, 40);
BEGIN
    IF k IS NULL THEN RETURN; END IF;
    -- In few lines: an error quotes the statement in its CONTEXT.
    RETURN QUERY WITH z AS (SELECT 1 AS list, n.* FROM cftrag_internal.cft_nearest_documents(embedding, most, edges, trees, within, documents, filter) WITH ORDINALITY AS n(id, entity, body, tokens, distance, place) UNION ALL SELECT 2, w.* FROM cftrag_internal.cft_documents_by_words(question, embedding, most, edges, trees, within, documents, filter) WITH ORDINALITY AS w(id, entity, body, tokens, distance, place)
        UNION ALL (SELECT 3, c.id, c.relative, c.body, c.tokens, c.distance, c.place FROM cftrag_internal.cft_chunks(entities, up, down, edges, documents, embedding, trees, within, filter) WITH ORDINALITY AS c(entity, relation, depth, relative, id, body, tokens, distance, place) LIMIT most))
    SELECT z.id, (array_agg(z.entity ORDER BY z.list))[1], z.body, max(z.tokens), min(z.distance), string_agg(format('%s %s', ('{nearest,words,hierarchy}'::text[])[z.list], z.place), ', ' ORDER BY z.list) FROM z GROUP BY z.id, z.body ORDER BY sum(1.0 / (60 + z.place)) DESC, z.id COLLATE "C", z.body COLLATE "C" LIMIT k;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_fused(text, vector, integer, text[], integer, integer, regclass, text[], text[], regclass, jsonb) IS
'the k documents of a question by reciprocal rank fusion: the nearest, those with its words, those about its entities (cft_retrieve, mode hybrid)';

-- Where the sentences of cft_context_parts can be cut: for each name, in order, the number of characters from the start of the
-- first name in its sentence to its own end. cft_cuts adds, for each sentence, the number of its last name.
CREATE FUNCTION cftrag_internal.cft_name_ends(entities text[], up integer, down integer, edges regclass, trees text[])
RETURNS SETOF bigint[] LANGUAGE c STABLE PARALLEL SAFE COST 200 ROWS 20
AS 'MODULE_PATHNAME', 'cft_name_ends_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_name_ends(text[], integer, integer, regclass, text[]) IS 'where each name ends in the sentences of cft_context_parts';

CREATE FUNCTION cftrag_internal.cft_cuts(entities text[], up integer, down integer, edges regclass, trees text[], OUT cuts bigint[], OUT last_names bigint[])
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT array_agg(c.chars ORDER BY s.n, c.n), array_agg(s.names ORDER BY s.n) FILTER (WHERE c.n = 1) INTO cuts, last_names
      FROM (SELECT e.ends, e.n, sum(cardinality(e.ends)) OVER (ORDER BY e.n)::bigint AS names
              FROM cftrag_internal.cft_name_ends(entities, up, down, edges, trees) WITH ORDINALITY AS e(ends, n)) AS s,
           unnest(s.ends) WITH ORDINALITY AS c(chars, n);
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_cuts(text[], integer, integer, regclass, text[]) IS 'where the sentences of cft_context_parts can be cut';

-- "A, B and 98 more.": as many names as fit; NULL if not even one fits. The ends of the names are cuts[first_name .. last_name].
CREATE FUNCTION cftrag_internal.cft_cut(sentence text, room integer, cuts bigint[], first_name bigint, last_name bigint)
RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head bigint := char_length(sentence) - 1 - cuts[last_name];
    fits bigint := first_name - 1;
    too_many bigint := last_name;
    middle bigint;
BEGIN
    -- Binary search: each further name makes the sentence longer.
    WHILE fits + 1 < too_many LOOP
        middle := (fits + too_many) / 2;
        IF (head + cuts[middle] + char_length(format(' and %s more.', last_name - middle)) + 3) / 4 <= room THEN
            fits := middle;
        ELSE
            too_many := middle;
        END IF;
    END LOOP;
    -- NULL unless a name ends there: mode naive may have fewer sentences, so cuts may not match.
    RETURN CASE WHEN fits >= first_name AND substr(sentence, (head + cuts[fits])::int + 1, 1) IN (',', ';')
                THEN left(sentence, (head + cuts[fits])::int) || format(' and %s more.', last_name - fits) END;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_cut(text, integer, bigint[], bigint, bigint) IS 'a sentence about an entity''s relatives, shortened to so many tokens: "A, B and 98 more."';

-- "The downward hierarchical relationships of syndrome are: 431 entities."
CREATE FUNCTION cftrag_internal.cft_number(sentence text, cuts bigint[], first_name bigint, last_name bigint)
RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head bigint := char_length(sentence) - 1 - cuts[last_name];
BEGIN
    -- As in cft_cut, mode naive may have fewer sentences, so cuts may not match.
    RETURN CASE WHEN head >= 0 AND substr(sentence, (head + cuts[first_name])::int + 1, 1) IN (',', ';')
                THEN left(sentence, head::int) || format('%s entities.', last_name - first_name + 1) ELSE sentence END;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_number(text, bigint[], bigint, bigint) IS 'a sentence about an entity''s relatives, with their number instead of their names';

CREATE FUNCTION cftrag_internal.cft_retrieve(question text, embedding vector, k integer, up integer, down integer,
    budget integer, mode text, edges regclass, trees text[], within text[], documents regclass, chunks integer, filter jsonb, match text, narrow boolean)
RETURNS TABLE(source text, entity text, document_id text, rank integer, distance float8, text text, tokens integer, why text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 20 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    -- The OID of the table of documents, and whether they belong to entities, as one text.
    which text;
    attached regclass;
    has_entities boolean;
    filter_of_entities jsonb;
    names text[] := '{}';
    whys text[] := '{}';
    -- Entities and trees whose sentences are left out, and the entities that are written of.
    left_out text[];
    told text[];
    trees_of text[];
    is_left_out boolean[];
    said_of text[];
    said text[];
    relations text[];
    -- The most descendants that a sentence names.
    most CONSTANT int := 100;
    -- For each row of the hierarchy, the number of its sentence.
    numbers int[];
    -- The current entity, and, once a sentence had to be shortened, where the sentences can be cut.
    said_now text;
    cuts bigint[];
    last_names bigint[];
    shorter text;
    r record;
    near int := 0;
    about int := 0;
    name_at int := 1;
    why_of jsonb;
    -- The labels of the names, in the same order.
    called text[];
    called_of jsonb;
    wanted int := coalesce(chunks, k);
    -- Id and body of each nearest document, as one text: NULLs are equal.
    near_keys text[];
    -- The rows.
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
        RAISE EXCEPTION '%', cftrag_internal.cft_negative('{k,up,down,budget,chunks}', ARRAY[k, up, down, budget, chunks]) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF mode NOT IN ('cft', 'hybrid', 'text', 'naive', 'ann_tree', 'ann_graph') THEN
        RAISE EXCEPTION 'there is no mode "%"', mode USING ERRCODE = 'invalid_parameter_value',
            HINT = 'The modes are cft, hybrid, text, naive, ann_tree and ann_graph.';
    END IF;
    -- Without an embedding no documents need be attached.
    which := cftrag_internal.cft_kept_statement(CASE WHEN documents = 0 AND embedding IS NULL THEN 'documents, if any' ELSE 'documents' END, documents);
    attached := nullif(split_part(which, ' ', 1), '')::oid;
    has_entities := split_part(which, ' ', 2) = 'true';

    IF mode IN ('cft', 'hybrid', 'naive') THEN
        SELECT array_agg(e.entity ORDER BY e.start, e.entity COLLATE "C"),
               array_agg(format('mentioned as "%s"', e.mention) || coalesce(', by the alias "' || e.via_alias || '"', '') ORDER BY e.start, e.entity COLLATE "C") INTO names, whys
          FROM cftrag_internal.cft_first_mentions(question, edges, trees, within, match, narrow) AS e;
    ELSIF mode IN ('ann_tree', 'ann_graph') THEN
        -- Embeddings of entities have no metadata.
        IF NOT EXISTS (SELECT FROM cftrag_internal.cft_attached(edges) AS f, cftrag_internal.cft_columns('cftrag_internal.cft_entity_embeddings()', NULL, f.edges) AS c WHERE c.other = f.edges) THEN
            filter_of_entities := filter;
        END IF;
        SELECT array_agg(n.entity ORDER BY n.distance, n.entity COLLATE "C"),
               array_agg(format('one of the nearest entities, distance %s', round(n.distance::numeric, 4)) ORDER BY n.distance, n.entity COLLATE "C") INTO names, whys
          FROM cftrag_internal.cft_nearest_entities(embedding, k, edges, trees, within, attached, filter_of_entities) AS n;
    END IF;
    names := coalesce(names, '{}');
    IF names <> '{}' THEN
        called := cftrag_internal.cft_called(names, edges);
    END IF;
    -- An entity that the sentence of another one names as its ancestor in a tree gets no sentences in that tree, unless each is above the other.
    IF mode IN ('cft', 'hybrid', 'naive') AND cardinality(names) > 1 THEN
        WITH above AS MATERIALIZED (SELECT c.entity, c.tree, c.relative FROM cftrag_internal.cft_context(names, up, 0, edges, trees) AS c WHERE c.relative IN (SELECT unnest(names)))
        SELECT array_agg(DISTINCT concat_ws(' ', length(a.relative), a.relative, a.tree)) INTO left_out
          FROM above AS a WHERE NOT EXISTS (SELECT FROM above AS b WHERE b.entity = a.relative AND b.relative = a.entity AND (b.tree IS NULL) = (a.tree IS NULL) AND coalesce(b.tree, '') = coalesce(a.tree, ''));
    END IF;

    -- One statement for each mode, so that each has its own cached plan.
    IF names = '{}' THEN
        NULL;
    ELSIF mode IN ('cft', 'hybrid', 'ann_tree') THEN
        SELECT array_agg(p.entity ORDER BY p.n), array_agg(p.text ORDER BY p.n), array_agg(p.relation ORDER BY p.n), array_agg(concat_ws(' ', length(p.entity), p.entity, p.tree) ORDER BY p.n)
          INTO said_of, said, relations, trees_of
          FROM cftrag_internal.cft_context_parts(names, up, down, edges, trees) WITH ORDINALITY AS p(entity, tree, relation, text, n);
    ELSIF mode = 'naive' THEN
        SELECT array_agg(p.entity ORDER BY p.n), array_agg(p.text ORDER BY p.n), array_agg(p.relation ORDER BY p.n), array_agg(concat_ws(' ', length(p.entity), p.entity, p.tree) ORDER BY p.n)
          INTO said_of, said, relations, trees_of
          FROM cftrag_internal.cft_parts_by_search(names, up, down, edges, trees) WITH ORDINALITY AS p(entity, tree, relation, text, n);
    ELSE
        SELECT array_agg(p.entity ORDER BY p.n), array_agg(p.text ORDER BY p.n) INTO said_of, said
          FROM cftrag_internal.cft_sentences_of_neighbors(names, greatest(down, 1), edges, trees) WITH ORDINALITY AS p(entity, text, n);
    END IF;

    -- Nor are there chunks about an entity without sentences for that reason, or about its relatives.
    told := names;
    IF left_out IS NOT NULL THEN
        SELECT array_agg(u.it IN (SELECT unnest(left_out)) ORDER BY u.n) INTO is_left_out FROM unnest(trees_of) WITH ORDINALITY AS u(it, n);
        told := array(SELECT n.name FROM unnest(names) WITH ORDINALITY AS n(name, n)
                       WHERE n.name NOT IN (SELECT s.entity FROM unnest(said_of, is_left_out) AS s(entity, is_left_out) GROUP BY s.entity HAVING bool_and(s.is_left_out)) ORDER BY n.n);
    END IF;

    -- Rows are fetched in a loop, by short statements: an error in a table of documents quotes them in its CONTEXT.
    FOR r IN SELECT n.*, NULL AS lists FROM cftrag_internal.cft_nearest_documents(CASE WHEN mode <> 'hybrid' THEN embedding END, k, edges, trees, within, attached, filter) AS n
             UNION ALL SELECT f.* FROM cftrag_internal.cft_fused(question, embedding, CASE WHEN mode = 'hybrid' THEN k END, CASE WHEN has_entities THEN told END, up, down, edges, trees, within, attached, filter) AS f LOOP
        near := near + 1;
        near_keys := array_append(near_keys, concat_ws(' ', length(r.document_id), r.document_id, r.body IS NULL, r.body));
        sources := array_append(sources, 'document'); ranks := array_append(ranks, near);
        entities := array_append(entities, r.entity); ids := array_append(ids, r.document_id); distances := array_append(distances, r.distance);
        texts := array_append(texts, r.body); sizes := array_append(sizes, r.tokens);
        reasons := array_append(reasons, r.lists);
    END LOOP;
    reasons := array(SELECT CASE WHEN mode = 'hybrid' THEN format('number %s of %s by reciprocal rank: %s', u.n, near, u.lists)
                                 WHEN near < k THEN format('number %s of the %s documents that can be compared', u.n, near)
                                 ELSE format('number %s of the %s nearest documents', u.n, near) END
                       FROM unnest(reasons) WITH ORDINALITY AS u(lists, n) ORDER BY u.n);
    -- For an entity with very many descendants we give their number, not their names; with a budget, as many names as it has room for. The beginning of a
    -- sentence of megabytes says whether it names many: translate looks for no cancel.
    IF budget IS NULL AND mode <> 'ann_graph' AND EXISTS (SELECT FROM unnest(said, relations) AS u(text, relation)
                                                           CROSS JOIN LATERAL (SELECT left(text, 10000), char_length(left(text, 10000)) - char_length(translate(left(text, 10000), ',;', ''))) AS l(begins, commas)
                                                           WHERE relation = 'descendant' AND CASE WHEN l.commas >= most THEN true WHEN octet_length(text) = octet_length(l.begins) THEN false
                                                                 ELSE char_length(text) - char_length(translate(text, ',;', '')) >= most END) THEN
        SELECT c.cuts, c.last_names INTO cuts, last_names FROM cftrag_internal.cft_cuts(names, up, down, edges, trees) AS c;
        SELECT array_agg(CASE WHEN relations[n] = 'descendant' AND last_names[n] - coalesce(last_names[n - 1], 0) > most
                              THEN cftrag_internal.cft_number(u.text, cuts, coalesce(last_names[n - 1], 0) + 1, last_names[n]) ELSE u.text END ORDER BY n) INTO said
          FROM unnest(said) WITH ORDINALITY AS u(text, n);
    END IF;
    FOR row_at IN 1 .. coalesce(cardinality(said), 0) LOOP
        CONTINUE WHEN is_left_out[row_at];
        sources := array_append(sources, 'hierarchy'); ranks := array_append(ranks, cardinality(sources) - near); numbers[cardinality(sources)] := row_at;
        entities := array_append(entities, said_of[row_at]); ids := array_append(ids, NULL); distances := array_append(distances, NULL);
        texts := array_append(texts, said[row_at]); sizes := array_append(sizes, (char_length(said[row_at]) + 3) / 4);
        -- Sentences come in the order of the names.
        WHILE names[name_at] <> said_of[row_at] LOOP
            name_at := name_at + 1;
        END LOOP;
        reasons := array_append(reasons, whys[name_at]);
    END LOOP;
    IF has_entities AND names <> '{}' AND wanted > 0 THEN
        -- If a name occurs twice, the first counts.
        SELECT jsonb_object_agg(u.name, u.why ORDER BY u.n DESC), jsonb_object_agg(u.name, u.called ORDER BY u.n DESC) INTO why_of, called_of
          FROM unnest(names, whys, called) WITH ORDINALITY AS u(name, why, called, n);
        FOR r IN SELECT c.* FROM cftrag_internal.cft_chunks(told, up, down, edges, attached, embedding, trees, within, filter) AS c
                  WHERE NOT EXISTS (SELECT FROM unnest(near_keys) AS d(key) WHERE d.key = concat_ws(' ', length(c.document_id), c.document_id, c.body IS NULL, c.body) COLLATE "C") LIMIT wanted LOOP
            about := about + 1;
            sources := array_append(sources, 'chunk'); ranks := array_append(ranks, about);
            entities := array_append(entities, r.relative); ids := array_append(ids, r.document_id); distances := array_append(distances, r.distance);
            texts := array_append(texts, r.body); sizes := array_append(sizes, r.tokens);
            reasons := array_append(reasons, CASE r.depth WHEN 0 THEN format('about "%s", ', called_of ->> r.entity)
                ELSE format('about %s of "%s" (depth %s), ', CASE r.relation WHEN 'ancestor' THEN 'an ancestor' ELSE 'a descendant' END, called_of ->> r.entity, r.depth) END
                || (why_of ->> r.entity));
        END LOOP;
    END IF;

    -- The sources take turns, hierarchy first: each adds its next row if it fits the budget. A sentence that does not fit is cut to its nearest
    -- relatives, in half of the remaining budget: an entity with many relatives does not crowd out the documents.
    IF budget IS NOT NULL THEN
        name_at := 1;
        taken := array_fill(false, ARRAY[coalesce(cardinality(sources), 0)]);
        FOR row_at IN SELECT u.n FROM unnest(sources, ranks) WITH ORDINALITY AS u(source, rank, n)
                       ORDER BY u.rank, array_position('{hierarchy,document,chunk}', u.source) LOOP
            IF sources[row_at] = 'hierarchy' AND said_now IS DISTINCT FROM entities[row_at] THEN
                said_now := entities[row_at];
                WHILE names[name_at] <> said_now LOOP
                    name_at := name_at + 1;
                END LOOP;
            END IF;
            IF sizes[row_at] <= left_over THEN
                taken[row_at] := true;
                left_over := left_over - sizes[row_at];
            -- A sentence has the entity's label and at least 40 more characters.
            ELSIF sources[row_at] = 'hierarchy' AND mode <> 'ann_graph' AND (char_length(called[name_at]) + 40) / 4 <= left_over / 2 THEN
                IF cuts IS NULL THEN
                    SELECT c.cuts, c.last_names INTO cuts, last_names FROM cftrag_internal.cft_cuts(names, up, down, edges, trees) AS c;
                END IF;
                shorter := cftrag_internal.cft_cut(texts[row_at], left_over / 2, cuts, coalesce(last_names[numbers[row_at] - 1], 0) + 1, last_names[numbers[row_at]]);
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
COMMENT ON FUNCTION cftrag_internal.cft_retrieve(text, vector, integer, integer, integer, integer, text, regclass, text[], text[], regclass, integer, jsonb, text, boolean) IS 'what cft_retrieve calls';

CREATE FUNCTION cft_retrieve(question text, embedding vector, k integer DEFAULT 5, chunks integer DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    budget integer DEFAULT NULL, mode text DEFAULT 'cft', edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, within text[] DEFAULT NULL, documents regclass DEFAULT NULL,
    filter jsonb DEFAULT NULL, match text DEFAULT NULL, narrow boolean DEFAULT true)
RETURNS TABLE(source text, entity text, document_id text, rank integer, distance float8, text text, tokens integer, why text)
LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 20
BEGIN ATOMIC
    SELECT f.* FROM cftrag_internal.cft_retrieve($1, $2, $3, $5, $6, $7, $8, cftrag_internal.cft_meant_edges($9), $10, $11, cftrag_internal.cft_meant_documents($12), $4, $13, $14, $15) AS f;
END;
COMMENT ON FUNCTION cft_retrieve(text, vector, integer, integer, integer, integer, integer, text, regclass, text[], text[], regclass, jsonb, text, boolean) IS
'what belongs to a question: the nearest documents, the hierarchy of the entities it mentions, and documents about these (all in these trees, within these entities, with these metadata); each row says why it is here';

CREATE FUNCTION cftrag_internal.cft_fill_prompt(format text, question text, documents text, hierarchy text, chunks text)
RETURNS text LANGUAGE c IMMUTABLE PARALLEL SAFE COST 10
AS 'MODULE_PATHNAME', 'cft_fill_prompt_wrapper';
COMMENT ON FUNCTION cftrag_internal.cft_fill_prompt(text, text, text, text, text) IS 'a format with these texts in the places of their names';

CREATE FUNCTION cftrag_internal.cft_prompt(question text, embedding vector, template text, k integer, up integer, down integer, budget integer,
    mode text, edges regclass, trees text[], within text[], documents regclass, chunks integer, filter jsonb, match text, narrow boolean)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own text := coalesce(template, nullif(current_setting('cftrag.prompt_template', true), ''));
    r record;
    -- Documents and chunks are numbered as one list.
    number int := 0;
    near text[];
    about text[];
    said text[];
BEGIN
    FOR r IN SELECT f.source, f.text FROM cftrag_internal.cft_retrieve(question, embedding, k, up, down, budget, mode, edges, trees, within, documents, chunks, filter, match, narrow) AS f LOOP
        IF r.source = 'hierarchy' THEN
            said := array_append(said, r.text);
            CONTINUE;
        END IF;
        number := number + 1;
        IF r.source = 'document' THEN
            near := array_append(near, format('[%s] %s', number, r.text));
        ELSE
            about := array_append(about, format('[%s] %s', number, r.text));
        END IF;
    END LOOP;
    IF question IS NULL THEN
        RETURN NULL;
    ELSIF own IS NOT NULL THEN
        RETURN cftrag_internal.cft_fill_prompt(own, question, array_to_string(near, E'\n'), array_to_string(said, E'\n'), array_to_string(about, E'\n'));
    END IF;
    RETURN 'Answer the question from the context below. If the context does not hold the answer, say so.'
        || coalesce(E'\n\nDocuments:\n' || nullif(array_to_string(near || about, E'\n'), ''), '')
        || coalesce(E'\n\nHierarchy:\n' || array_to_string(said, E'\n'), '')
        || E'\n\nQuestion: ' || question;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_prompt(text, vector, text, integer, integer, integer, integer, text, regclass, text[], text[], regclass, integer, jsonb, text, boolean) IS
'what cft_prompt calls';

CREATE FUNCTION cft_prompt(question text, embedding vector, k integer DEFAULT 5, chunks integer DEFAULT NULL, up integer DEFAULT 3, down integer DEFAULT 1,
    budget integer DEFAULT NULL, mode text DEFAULT 'cft', edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, within text[] DEFAULT NULL, documents regclass DEFAULT NULL, template text DEFAULT NULL,
    filter jsonb DEFAULT NULL, match text DEFAULT NULL, narrow boolean DEFAULT true)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE COST 10000
BEGIN ATOMIC
    SELECT cftrag_internal.cft_prompt($1, $2, $13, $3, $5, $6, $7, $8, cftrag_internal.cft_meant_edges($9), $10, $11, cftrag_internal.cft_meant_documents($12), $4, $14, $15, $16);
END;
COMMENT ON FUNCTION cft_prompt(text, vector, integer, integer, integer, integer, integer, text, regclass, text[], text[], regclass, text, jsonb, text, boolean) IS
'a prompt of what cft_retrieve returns, the same bytes for the same data; or a format of yours, with {question} {documents} {hierarchy} {chunks}';

CREATE FUNCTION cftrag_internal.cft_resolve(mention text, embedding vector, k integer, edges regclass, trees text[], within text[], documents regclass, match text)
RETURNS TABLE(entity text, score float8, method text, label text)
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 ROWS 5 SET search_path = pg_catalog, pg_temp SET cftrag.match_case = off AS $$
#variable_conflict use_column
DECLARE
    f record;
    part text;
    tops text[] := within;
    separator CONSTANT text := E'(?:[[:space:]]*[>\\u00BB\\u203A\\u2192][[:space:]]*|[[:space:]]+[/|][[:space:]]+)';
    -- Entities that a part of a path may mean.
    most_of_path CONSTANT integer := 1000;
    those record;
BEGIN
    IF num_nulls(mention, k) > 0 THEN RETURN; END IF;
    IF k < 0 THEN
        RAISE EXCEPTION '"k" must not be negative, but is %', k USING ERRCODE = 'invalid_parameter_value';
    ELSIF match NOT IN ('exact', 'inflected', 'fuzzy') THEN
        RAISE EXCEPTION '"match" must be "exact", "inflected" or "fuzzy", not "%"', left(match, 64) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT * INTO f FROM cftrag_internal.cft_attached(edges);
    -- An exact name is the only answer; the other ways are tried only without one. Ids are not names where there are labels, nor are integers, unless attached as names.
    RETURN QUERY SELECT mention, 1::float8, 'exact', NULL WHERE k > 0 AND f.by_name
        AND cftrag_internal.cft_those(ARRAY[mention], f.edges, trees, within) <> '{}';
    IF FOUND THEN RETURN; END IF;
    RETURN QUERY
    SELECT z.entity, z.score::numeric::float8, z.method, z.label
      FROM (SELECT DISTINCT ON (e.entity COLLATE "C") e.entity, e.label, e.score,
                     CASE WHEN e.method <> 'exact' THEN e.method WHEN e.via_alias IS NOT NULL THEN 'alias' WHEN f.labels IS NULL THEN 'folded' ELSE 'label' END AS method
              FROM cftrag_internal.cft_entities(mention, f.edges, trees, within, match => coalesce(match, 'fuzzy')) AS e
              -- The name must cover all words, with or without a possessive or an elision.
              JOIN (SELECT min(w.start) AS start, max(w.start + w.length) AS stop
                      FROM (VALUES (false), (true)) AS p(plain), cftrag_internal.cft_words(mention, p.plain) AS w GROUP BY p.plain) AS w
                ON w.start = e.start AND w.stop = e.start + e.length
             ORDER BY e.entity COLLATE "C", e.via_alias NULLS FIRST) AS z
     ORDER BY z.method = 'alias', z.entity COLLATE "C" LIMIT k;
    IF FOUND THEN RETURN; END IF;
    -- A path, "Attic > Shelves": what the last part may mean below what the part before may mean.
    IF mention ~ separator AND mention !~ ('^' || separator || '|' || separator || '$') THEN
        FOREACH part IN ARRAY regexp_split_to_array(mention, separator) LOOP
            SELECT array_agg(r.entity) AS entities, array_agg(r.score) AS scores, array_agg(r.label) AS labels INTO those
              FROM cftrag_internal.cft_resolve(part, NULL, most_of_path, f.edges, trees, tops, documents, match) AS r;
            EXIT WHEN those.entities IS NULL;
            tops := those.entities;
        END LOOP;
        RETURN QUERY SELECT u.entity, u.score, 'path', u.label
          FROM unnest(those.entities, those.scores, those.labels) WITH ORDINALITY AS u(entity, score, label, n) ORDER BY u.n LIMIT k;
        IF FOUND THEN RETURN; END IF;
    END IF;
    IF embedding IS NOT NULL
       -- With several tables of documents, naming none is an error.
       AND (EXISTS (SELECT FROM cftrag_internal.cft_columns('cftrag_internal.cft_entity_embeddings()', NULL, f.edges) AS c WHERE c.other = f.edges)
            OR documents <> 0 OR EXISTS (SELECT FROM cftrag_internal.cft_columns('cftrag_internal.cft_documents()'))) THEN
        RETURN QUERY
        SELECT n.entity, n.score, 'nearest', n.label FROM cftrag_internal.cft_nearest_entities(embedding, k, f.edges, trees, within, documents, NULL) AS n
         WHERE (num_nulls(trees, within) = 2 OR cftrag_internal.cft_those(ARRAY[n.entity], f.edges, trees, within) <> '{}') ORDER BY n.distance, n.entity COLLATE "C" LIMIT k;
    END IF;
END $$;
COMMENT ON FUNCTION cftrag_internal.cft_resolve(text, vector, integer, regclass, text[], text[], regclass, text) IS 'what cft_resolve calls';

CREATE FUNCTION cft_resolve(mention text, embedding vector DEFAULT NULL, k integer DEFAULT 5, edges regclass DEFAULT NULL, trees text[] DEFAULT NULL, within text[] DEFAULT NULL,
    documents regclass DEFAULT NULL, match text DEFAULT NULL)
RETURNS TABLE(entity text, score float8, method text, label text)
LANGUAGE sql STABLE PARALLEL SAFE COST 10000 ROWS 5
BEGIN ATOMIC SELECT f.* FROM cftrag_internal.cft_resolve($1, $2, $3, cftrag_internal.cft_meant_edges($4), $5, $6, cftrag_internal.cft_meant_documents($7), $8) AS f; END;
COMMENT ON FUNCTION cft_resolve(text, vector, integer, regclass, text[], text[], regclass, text) IS
'which entity (in these trees, within these) a mention may mean: exact, folded, by label or alias, as a path (Attic > Shelves); else written otherwise (match, as in cft_entities; NULL: fuzzy); else the nearest by embedding';
