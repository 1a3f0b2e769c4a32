"""Relations that spaCy finds in texts, into a table that cft_filter_relations reads.

pip install spacy psycopg[binary]. The patterns are of words, so a blank pipeline will do (spacy.blank("en"): no model). With a trained one
(en_core_web_sm, which is not on PyPI) take its noun chunks and dependencies instead; what is inserted is the same.
"""

from spacy.matcher import Matcher

VERBS = ["contain", "contains", "comprise", "comprises", "include", "includes"]
NAME = {"IS_ALPHA": True, "IS_STOP": False, "LOWER": {"NOT_IN": VERBS}, "OP": "+"}
PATTERN = [NAME, {"LOWER": {"IN": VERBS}}, {"LOWER": {"IN": ["a", "an", "the"]}, "OP": "?"}, NAME]
INSERT = "INSERT INTO raw_found (parent, child, source) VALUES (%s, %s, 'spaCy')"


def relations(nlp, text):
    """(parent, child) of each "NAME contains NAME", in their order."""
    matcher = Matcher(nlp.vocab)
    matcher.add("contains", [PATTERN], greedy="LONGEST")
    for match in sorted(matcher(nlp(text), as_spans=True), key=lambda match: match.start):
        verb = next(token.i for token in match if token.lower_ in VERBS)
        parent = match.doc[match.start : verb]
        child = [token.text for token in match.doc[verb + 1 : match.end] if not token.is_stop]
        yield parent.text, " ".join(child)


def insert(connection, nlp, texts):
    found = [relation for text in texts for relation in relations(nlp, text)]
    with connection.cursor() as cursor:
        cursor.executemany(INSERT, found)
    return found
