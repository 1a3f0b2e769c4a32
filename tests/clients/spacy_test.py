"""docs/clients/with_spacy.py: relations found by spaCy are inserted into a table, filtered together with those of the rules, and attached."""

import psycopg
import spacy
from with_spacy import insert, relations

nlp = spacy.blank("en")
text = "The renal pyramid contains the nephron. Every nephron contains a glomerulus, and the kidney includes a renal pyramid. It contains water."
assert list(relations(nlp, text)) == [("renal pyramid", "nephron"), ("nephron", "glomerulus"), ("kidney", "renal pyramid")], list(relations(nlp, text))
assert list(relations(nlp, "Nothing of the kind.")) == []

with psycopg.connect() as connection:
    connection.execute("CREATE TABLE raw_found (parent text, child text, source text)")
    assert len(insert(connection, nlp, [text, "The nephron contains the renal pyramid.", "The nephron contains a glomerulus."])) == 5
    connection.execute("INSERT INTO raw_found SELECT parent, child, relation FROM cft_extract_relations('The kidney contains the glomerulus.')")
    rows = connection.execute("SELECT parent, child, reason FROM cft_filter_relations('raw_found', 'parent', 'child') ORDER BY 1, 2, 3").fetchall()
    assert rows == [
        ("kidney", "glomerulus", "transitive"),
        ("kidney", "renal pyramid", None),
        ("nephron", "glomerulus", "duplicate"),
        ("nephron", "glomerulus", None),
        ("nephron", "renal pyramid", "cycle"),
        ("renal pyramid", "nephron", None),
    ], rows
    connection.execute("CREATE TABLE found (parent text, child text)")
    connection.execute("INSERT INTO found SELECT parent, child FROM cft_filter_relations('raw_found', 'parent', 'child') WHERE kept")
    connection.execute("SELECT cft_attach('found')")
    above = connection.execute("SELECT relative FROM cft_context('glomerulus', 9, 0, 'found')").fetchall()
    assert above == [("nephron",), ("renal pyramid",), ("kidney",)], above
    connection.rollback()
