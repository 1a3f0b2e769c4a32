"""Which marked mentions of diseases cft_entities finds in abstracts, beside other recognisers with the same dictionary.

tests/quality/mentions calls it. The marked mentions are those of the NCBI disease corpus (792 abstracts, all three sets), the dictionary is the
names and exact synonyms of the Disease Ontology. A find is a span of characters: several entities of one span are one find. Of nested finds
the longest counts. Loading the dictionary is not timed. A recogniser is imported when its turn comes: one that is not installed is left out.
"""

import contextlib
import csv
import gzip
import importlib.util
import io
import json
import os
import statistics
import sys
import tempfile
import time

import psycopg

import misses

DATA = os.environ["CFTRAG_DATA"]
DATABASE = "cftrag_mentions"
ROUNDS = 3

EXACT = ", match => 'exact'"
# (label, settings, further arguments of cft_entities): a line of the table each. Left out where pg_settings does not know a setting.
VARIANTS = [
    ("inflected", "", ", match => 'inflected'"),
    ("fuzzy, the default", "", ""),
    ("short capitals and common words in any case", "SET cftrag.match_case = off", EXACT),
    ("within what is below the root", "", EXACT + ", within => ARRAY(SELECT child FROM edges WHERE parent = 'disease')"),
]
# What cft_retrieve does not write of: finds of which each entity is up to so many levels above another one that the text names.
ABOVE_OTHERS = [("without what is up to 3 levels above another one in the abstract", 3), ("without what is above another one at all", 1000)]
FIND_BELOW = """
    WITH f AS MATERIALIZED ({}),
         above AS MATERIALIZED (SELECT c.entity, c.relative FROM cft_context(ARRAY(SELECT DISTINCT entity FROM f), {}, 0, 'edges') AS c)
    SELECT f.* FROM f WHERE NOT EXISTS (SELECT FROM f AS o JOIN above AS a ON a.entity = o.entity WHERE o.n = f.n AND a.relative = f.entity)
"""

LOAD = """
    CREATE EXTENSION cftrag CASCADE;
    CREATE TABLE edges (parent text NOT NULL, child text NOT NULL);
    CREATE TABLE alias (alias text NOT NULL, entity text NOT NULL);
"""
ATTACH = [
    "SELECT cft_attach('edges')",
    "SELECT cft_build('edges')",
    "SELECT cft_attach_aliases('alias', edges => 'edges')",
    "SELECT cft_build('alias')",
]
FIND = """
    SELECT t.n::int - 1 AS n, e.start - 1, e.start - 1 + e.length, e.mention, e.entity, e.via_alias
      FROM unnest(%s::text[]) WITH ORDINALITY AS t (text, n), cft_entities(t.text, 'edges'{}) AS e
"""
FIND_ONE = "SELECT start - 1, start - 1 + length, mention, entity, via_alias FROM cft_entities(%s, 'edges', match => 'exact')"


def rows(name):
    # Tabs and a header line, no quoting.
    with open(os.path.join(DATA, name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def dictionary():
    """The edges, and {name: {entity}}. A synonym that is a name of an entity means that one only, as in load.sql."""
    edges = rows("doid_edges.tsv")
    entity = {e[side + "_id"]: e[side] for e in edges for side in ("parent", "child")}
    names = {name: {name} for name in entity.values()}
    taken = {name.lower() for name in names}
    for s in rows("doid_synonyms.tsv"):
        if s["scope"] == "EXACT" and s["id"] in entity and s["synonym"].lower() not in taken:
            names.setdefault(s["synonym"], set()).add(entity[s["id"]])
    return [(e["parent"], e["child"]) for e in edges], names


def abstracts():
    """The texts, and the set of marked (start, end) of each; positions count characters, from 0."""
    with gzip.open(os.path.join(DATA, "ncbi_mentions.jsonl.gz"), "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    return [d["text"] for d in documents], [{(g[0], g[1]) for g in d["gold"]} for d in documents]


def longest(found):
    """The leftmost of overlapping spans, and of those that begin together the longest."""
    kept, free = set(), 0
    for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
        if start >= free:
            kept.add((start, end))
            free = end
    return kept


def lower(text):
    """In lower case, of the same length."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


# ---- the recognisers: each takes the names and returns a function from a text to its spans -------------------------


def spacy_matcher(names):
    import spacy
    from spacy.matcher import PhraseMatcher

    nlp = spacy.blank("en")
    matcher = PhraseMatcher(nlp.vocab, attr="LOWER")
    matcher.add("name", list(nlp.tokenizer.pipe(names)))

    def find(text):
        return longest((m.start_char, m.end_char) for m in matcher(nlp.make_doc(text), as_spans=True))

    return find


def flashtext(names):
    from flashtext2 import KeywordProcessor

    processor = KeywordProcessor(case_sensitive=False)
    for name in names:
        processor.add_keyword(name, name)
    return lambda text: {(start, end) for _, start, end in processor.extract_keywords_with_span(text)}


def aho_corasick(names):
    import ahocorasick

    automaton = ahocorasick.Automaton()
    for name in names:
        automaton.add_word(lower(name), len(name))
    automaton.make_automaton()

    def find(text):
        def border(at):
            return not (0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum())

        ends = ((last + 1 - length, last + 1) for last, length in automaton.iter(lower(text)))
        return longest((start, end) for start, end in ends if border(start) and border(end))

    return find


def fast_hpo_cr(names, config):
    import FastHPOCR.index.PreprocessMONDOTerms as preprocess
    from FastHPOCR.cr.CRIndexKB import CRIndexKB
    from FastHPOCR.HPOAnnotator import HPOAnnotator
    from FastHPOCR.IndexMONDO import IndexMONDO

    class Reader:
        """Our dictionary in place of an ontology's file."""

        def __init__(self, *_, **__):
            self.terms = {f"MONDO:{n}": name for n, name in enumerate(name for name, means in names.items() if means == {name})}
            ids = {name: id for id, name in self.terms.items()}
            self.synonyms = {}
            for name, means in names.items():
                for entity in means - {name}:
                    self.synonyms.setdefault(ids[entity], []).append(name)
            self.allSuperClasses = {}

    def tokens_of(self, cluster, clusters):
        # Its own looks through all clusters for each: minutes. The answer is the same.
        if not hasattr(self, "inverse"):
            self.inverse = {}
            for token, id in clusters.items():
                self.inverse.setdefault(id, []).append(token)
        return list(self.inverse.get(cluster, []))

    preprocess.OntoReader, CRIndexKB.compileClusterList = Reader, tokens_of
    with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
        IndexMONDO(__file__, directory, indexConfig=config).index()
        annotator = HPOAnnotator(os.path.join(directory, "mondo.index"))
    return lambda text: {(a.getStartOffset(), a.getEndOffset()) for a in annotator.annotate(text, longestMatch=True)}


OTHERS = [
    ("spaCy PhraseMatcher, LOWER", spacy_matcher),
    ("flashtext2", flashtext),
    ("pyahocorasick, lower case, word borders", aho_corasick),
    # By default it leaves out capitals of fewer than 4 letters.
    ("FastHPOCR", lambda names: fast_hpo_cr(names, {})),
    ("FastHPOCR, capitals of 3 letters too", lambda names: fast_hpo_cr(names, {"allow3LetterAcronyms": True, "allowDuplicateEntries": True})),
]


# ---- measuring ---------------------------------------------------------------------------------------------------


def overlaps(span, others):
    return any(span[0] < end and start < span[1] for start, end in others)


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def scores(found, gold):
    """Precision, recall and F1 of the spans themselves, then with each span that overlaps one of the other side as right."""
    pairs = list(zip(found, gold))
    finds, marks = sum(map(len, found)), sum(map(len, gold))
    exact = sum(len(f & g) for f, g in pairs)
    right = sum(overlaps(span, g) for f, g in pairs for span in f)
    reached = sum(overlaps(span, f) for f, g in pairs for span in g)
    answer = []
    for hits, reach in ((exact, exact), (right, reached)):
        precision, recall = hits / max(finds, 1), reach / max(marks, 1)
        answer += [precision, recall, f1(precision, recall)]
    return answer


def timed(work):
    """What work() returns, and the median of the seconds it takes."""
    seconds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        answer = work()
        seconds.append(time.perf_counter() - begin)
    return answer, statistics.median(seconds)


def line(label, found, gold, seconds):
    cells = [f"{value:.3f}" for value in scores(found, gold)]
    print(f"| {label} | {' | '.join(cells)} | {sum(map(len, found))} | {seconds:.3f} |", flush=True)


def spans(mentions, count):
    found = [set() for _ in range(count)]
    for n, start, end, *_ in mentions:
        found[n].add((start, end))
    return found


def load(connection, edges, names):
    connection.execute("SET client_min_messages = warning")
    connection.execute(LOAD)
    aliases = [(name, entity) for name, means in names.items() for entity in sorted(means - {name})]
    for table, pairs in (("edges (parent, child)", edges), ("alias (alias, entity)", aliases)):
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
            for pair in pairs:
                copy.write_row(pair)
    for statement in ["VACUUM ANALYZE edges, alias", *ATTACH]:
        connection.execute(statement)


def word_classes():
    """(word, class) of FastHPOCR's lists: words of one stem, and words that its author takes for the same. None if it is not installed."""
    found = importlib.util.find_spec("FastHPOCR")
    if not found:
        return []
    rows = []
    for name in ("base-synonyms", "vocab.clusters.list"):
        with open(os.path.join(os.path.dirname(found.origin), "resources", name), encoding="utf-8") as file:
            for n, line in enumerate(file):
                words = {word.strip().lower() for word in line.split(",")} - {""}
                rows += [(word, f"{name} {n}") for word in sorted(words) if len(words) > 1]
    return rows


def with_words(connection, texts, gold):
    rows = word_classes()
    if not rows:
        print("| cftrag with classes of words: left out, FastHPOCR is not installed |")
        return
    connection.execute("CREATE TABLE words (word text, class text)")
    with connection.cursor() as cursor, cursor.copy("COPY words FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    for statement in ("CREATE INDEX ON words (word)", "CREATE INDEX ON words (class)", "VACUUM ANALYZE words", "SELECT cft_attach_words('words', edges => 'edges')"):
        connection.execute(statement)
    for match in ("inflected", "fuzzy"):
        query = FIND.format(f", match => '{match}'")
        mentions, seconds = timed(lambda query=query: connection.execute(query, (texts,)).fetchall())
        line(f"cftrag, {match}, with FastHPOCR's classes of words", spans(mentions, len(texts)), gold, seconds)
    connection.execute("SELECT cft_detach('words')")


def variants(connection):
    known = {name for (name,) in connection.execute("SELECT name FROM pg_settings")}
    yield "cftrag, exact", "", EXACT
    for label, settings, arguments in VARIANTS:
        wanted = [statement.replace("=", " ").split()[1] for statement in settings.split(";") if statement.strip()]
        if known.issuperset(wanted):
            yield "cftrag, " + label, settings, arguments


def measure(connection, names, lists):
    texts, gold = abstracts()
    print(f"{len(texts)} abstracts, {sum(map(len, gold))} marked mentions, {len(names)} names")
    print("| method | exact: precision | recall | F1 | overlap: precision | recall | F1 | finds | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    plain = None
    for label, settings, arguments in variants(connection):
        connection.execute("RESET ALL; " + settings)
        mentions, seconds = timed(lambda: connection.execute(FIND.format(arguments), (texts,)).fetchall())
        line(label, spans(mentions, len(texts)), gold, seconds)
        plain = plain or mentions
    connection.execute("RESET ALL")
    with_words(connection, texts, gold)
    for label, levels in ABOVE_OTHERS:
        mentions, seconds = timed(lambda levels=levels: connection.execute(FIND_BELOW.format(FIND.format(EXACT), levels), (texts,)).fetchall())
        line("cftrag, " + label, spans(mentions, len(texts)), gold, seconds)
    if lists:
        misses.report(connection, names, texts, gold, plain)
        return
    singly, seconds = timed(lambda: [(n, *row) for n, text in enumerate(texts) for row in connection.execute(FIND_ONE, (text,))])
    line("cftrag, a statement for each abstract", spans(singly, len(texts)), gold, seconds)
    for label, make in OTHERS:
        try:
            find = make(names)
        except ImportError as error:
            print(f"| {label}: left out, {error} |")
            continue
        found, seconds = timed(lambda: [find(text) for text in texts])
        line(label, found, gold, seconds)
    print("Abstracts name MeSH and OMIM concepts, which the ontology's files do not map: which entity is found is not measured.")


def main():
    edges, names = dictionary()
    with psycopg.connect(dbname="postgres", autocommit=True, client_encoding="utf8") as server:
        server.execute("SET client_min_messages = warning")
        server.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        server.execute(f"CREATE DATABASE {DATABASE}")
        try:
            with psycopg.connect(dbname=DATABASE, autocommit=True, client_encoding="utf8") as connection:
                load(connection, edges, names)
                measure(connection, names, "--false" in sys.argv[1:])
        finally:
            server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")


if __name__ == "__main__":
    main()
