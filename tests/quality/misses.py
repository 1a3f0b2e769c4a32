"""The most frequent false finds and misses of cft_entities in annotated abstracts, for mentions.py --false.

A false find overlaps no marked mention. A miss is a marked mention that is not found as it is, although the dictionary has it written in
another way, or the text itself defines it as the abbreviation of a name that the dictionary has. Rules are judged by these lists.
"""

import itertools
import re
import unicodedata
from collections import Counter

TOP = 30
FUNCTION_WORDS = {"of", "the", "in", "and", "to", "with", "for", "a", "an", "or"}
BRITISH = [("ae", "e"), ("oe", "e"), ("our", "or"), ("isation", "ization")]


def words(text):
    """What cft_entities compares: words without case and accents."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return re.findall(r"[^\W_]+", plain)


def singular(word):
    if len(word) < 5 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


def american(word):
    for british, plain in BRITISH:
        word = word.replace(british, plain)
    return word


def spellings(text, stems):
    """(kind, key) from the strictest comparison to the loosest; each keeps what the one before ignores."""
    key = words(text)
    yield "as written, but in or across a longer find", " ".join(key)
    key = [word for word in key if word != "s"]
    yield "possessive", " ".join(key)
    key = [singular(word) for word in key]
    yield "plural", " ".join(key)
    key = [american(word) for word in key]
    yield "British spelling", " ".join(key)
    yield "blank or hyphen", "".join(key)
    key = sorted(word for word in key if word not in FUNCTION_WORDS)
    yield "word order", " ".join(key)
    yield "inflection", " ".join(sorted(stems.get(word, word) for word in key))


class Dictionary:
    """Says by which kind of spelling the names have a text."""

    def __init__(self, connection, names, texts):
        every = {american(singular(word)) for text in (*names, *texts) for word in words(text)}
        stem = "SELECT w, (ts_lexize('english_stem', w))[1] FROM unnest(%s::text[]) AS w"
        self.stems = {word: lexeme for word, lexeme in connection.execute(stem, (sorted(every),)) if lexeme}
        self.keys = {}
        for name in names:
            for kind, key in spellings(name, self.stems):
                if key:
                    self.keys.setdefault((kind, key), name)

    def look(self, text):
        """(kind, name) or None."""
        for kind, key in spellings(text, self.stems):
            if (kind, key) in self.keys:
                return kind, self.keys[kind, key]
        return None


def long_form(short, before):
    """Schwartz and Hearst's: the shortest end of `before` that has the letters of `short` in their order, the first at a word's begin."""
    at = len(before)
    for n in range(len(short) - 1, -1, -1):
        letter = short[n].lower()
        if not letter.isalnum():
            continue
        at -= 1
        while at >= 0 and (before[at].lower() != letter or (n == 0 and at > 0 and before[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return None
    return before[at:].strip()


def abbreviations(text):
    """{short form: long form} that the text defines: "Duchenne muscular dystrophy (DMD)"."""
    defined = {}
    for match in re.finditer(r"\(([^\W_][^()\s,;]{1,9})[,;)]", text):
        short = match[1]
        before = re.split(r"\s+", text[: match.start()].rstrip())[-min(len(short) + 5, 2 * len(short)) :]
        full = long_form(short, " ".join(before)) if any(c.isalpha() for c in short) else None
        if full and len(full) > len(short):
            defined.setdefault(short, full)
    return defined


def report(connection, names, texts, gold, mentions):
    false_finds(gold, mentions)
    missed(Dictionary(connection, names, texts), texts, gold, mentions)


def false_finds(gold, mentions):
    once = {(n, start, end): (mention, entity, alias) for n, start, end, mention, entity, alias in mentions}
    false, shown, total = Counter(), {}, 0
    for (n, start, end), (mention, entity, alias) in once.items():
        if not any(start < e and s < end for s, e in gold[n]):
            total += 1
            false[mention] += 1
            shown.setdefault(mention, (alias or entity, entity if alias else ""))
    print(f"\nFalse finds, which overlap no marked mention: {total} of {len(once)}. The most frequent:")
    print("| times | text | name or alias | entity of the alias |\n| --- | --- | --- | --- |")
    for text, times in false.most_common(TOP):
        print(f"| {times} | {text} | {' | '.join(shown[text])} |")


def missed(dictionary, texts, gold, mentions):
    found = [set() for _ in texts]
    for n, start, end, *_ in mentions:
        found[n].add((start, end))
    kinds, partly, items = Counter(), Counter(), Counter()
    for n, text in enumerate(texts):
        short = abbreviations(text)
        for start, end in gold[n] - found[n]:
            mark = text[start:end]
            known = dictionary.look(mark)
            if known is None and mark in short and (full := dictionary.look(short[mark])):
                known = "abbreviation", full[1]
            kind, name = known or ("not in the dictionary", "")
            reached = any(start < e and s < end for s, e in found[n])
            kinds[kind] += 1
            partly[kind] += reached
            if known:
                items[mark, kind, name] += 1
    print(f"\nMisses, by what hides them from the dictionary: {sum(kinds.values())} of {sum(map(len, gold))} marked mentions")
    print("| times | of these found in part | kind |\n| --- | --- | --- |")
    for kind, times in kinds.most_common():
        print(f"| {times} | {partly[kind]} | {kind} |")
    for title, wanted in (("in another spelling", False), ("by an abbreviation that the text defines", True)):
        print(f"\nThe most frequent that the dictionary has {title}:\n| times | text | kind | name |\n| --- | --- | --- | --- |")
        chosen = ((item, times) for item, times in items.most_common() if (item[1] == "abbreviation") == wanted)
        for (text, kind, name), times in itertools.islice(chosen, TOP):
            print(f"| {times} | {text} | {kind} | {name} |")
