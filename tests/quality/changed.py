"""How many names cft_entities still finds in a question that writes them in another way: plural, typing error, other order, and so on.

    CFTRAG_DATA=... ~/.cache/cftrag/mentions-venv/bin/python tests/quality/changed.py [SEED]

Uses the virtual environment that tests/quality/mentions makes, and the server that libpq finds; creates and drops the database cftrag_changed
there. The names are those of the Disease Ontology and its exact synonyms. Each is changed in one way and asked for in "What is known about NAME?".
A change that makes a name of something else is left out. The changes depend on the seed and the files only. A wrong entity is one that the
unchanged name does not mean: also a right find of a part, such as "cancer" in "lnug cancer". It only prints: nothing here passes or fails.
"""

import os
import random
import re
import string
import sys

os.environ.setdefault("CFTRAG_DATA", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/data"))
import mentions
import misses
import psycopg

SEED = 2003
DATABASE = "cftrag_changed"
# Names of each kind, at most.
MOST = 500
MATCHES = ["exact", "inflected", "fuzzy"]
QUESTION = "What is known about {}?"
FIND = "SELECT q.n::int - 1, e.entity FROM unnest(%s::text[]) WITH ORDINALITY AS q (text, n), cft_entities(q.text, 'edges'{}) AS e"
HAS_MATCH = "SELECT EXISTS (SELECT FROM pg_proc WHERE proname = 'cft_entities' AND 'match' = ANY (proargnames))"

# A name with one of these does not end with its head.
NOT_HEADED = re.compile(r"\b(of|in|with|without|due|by|to|from|on|at|for|and|or|type)\b|[^A-Za-z' -]")
SPELLINGS = [
    ("anemi", "anaemi"), ("celiac", "coeliac"), ("diarrhea", "diarrhoea"), ("edema", "oedema"), ("emia", "aemia"),
    ("esophag", "oesophag"), ("estrogen", "oestrogen"), ("etiolog", "aetiolog"), ("fetal", "foetal"), ("fetus", "foetus"), ("gynec", "gynaec"),
    ("hemat", "haemat"), ("hemo", "haemo"), ("leukemi", "leukaemi"), ("orthoped", "orthopaed"), ("pediatr", "paediatr"), ("pnea", "pnoea"),
    ("rrhea", "rrhoea"), ("tumor", "tumour"),
]  # fmt: skip


# ---- the changes: each takes a name and a random generator, and returns the changed name, or None if that cannot be changed so ----


def unchanged(name, _):
    return name


def plural(name, chance):
    start, word = re.search(r"[^ -]*$", name).start(), re.search(r"[^ -]*$", name)[0]
    if NOT_HEADED.search(name) or len(word) < 4 or not word.islower() or re.search(r"(?<![is])s$|us$", word):
        return None
    if word.endswith("oma") and chance.random() < 0.5:
        many = word + "ta"
    elif word.endswith("is"):
        many = word[:-2] + "es"
    elif re.search(r"[^aeiou]y$", word):
        many = word[:-1] + "ies"
    else:
        many = word + ("es" if re.search(r"(s|x|z|ch|sh)$", word) else "s")
    return name[:start] + many


def typing_error(name, chance):
    words = list(re.finditer(r"[A-Za-z]{6,}", name))
    if not words:
        return None
    word = chance.choice(words)
    letters, at = list(word[0]), chance.randrange(1, len(word[0]))
    edit = chance.choice(["substitution", "deletion", "insertion", "transposition"])
    if edit == "substitution":
        letters[at] = chance.choice(string.ascii_lowercase)
    elif edit == "deletion":
        del letters[at]
    elif edit == "insertion":
        letters.insert(at, chance.choice(string.ascii_lowercase))
    else:
        at = max(at, 2)
        letters[at - 1], letters[at] = letters[at], letters[at - 1]
    return name[: word.start()] + "".join(letters) + name[word.end() :]


def of_removed(name, _):
    """Y X for "X of Y", "X of the Y"."""
    parts = re.split(r" of (?:the )?", name)
    return f"{parts[1]} {parts[0]}" if len(parts) == 2 and "," not in name else None


def of_inserted(name, chance):
    """B of A, or B of the A, for "A B"."""
    rest, _, head = name.rpartition(" ")
    if NOT_HEADED.search(name) or not rest or len(head) < 4 or not head.islower():
        return None
    return f"{head} {chance.choice(['of', 'of the'])} {rest}"


def without_blank(name, chance):
    blanks = [m.start() for m in re.finditer(r"(?<=\w)[ -](?=\w)", name)]
    at = chance.choice(blanks) if blanks else None
    return None if at is None else name[:at] + name[at + 1 :]


def blank_inserted(name, chance):
    words = list(re.finditer(r"[A-Za-z]{8,}", name))
    if not words:
        return None
    word = chance.choice(words)
    at = chance.randrange(word.start() + 2, word.end() - 1)
    return name[:at] + " " + name[at:]


def other_spelling(name, _):
    """American for British, British for American."""
    american = british = name
    for one, other in SPELLINGS:
        american = american.replace(other, one)
        # Neither "aaemia" nor "chaemotherapy".
        british = re.sub(("(?<![ao])" if one[0] == "e" else "(?<!c)") + one, other, british)
    return american if american != name else british


KINDS = [
    ("unchanged", unchanged),
    ("plural", plural),
    ("one typing error", typing_error),
    ("Y X for X of Y", of_removed),
    ("B of A for A B", of_inserted),
    ("without blank", without_blank),
    ("blank inserted", blank_inserted),
    ("British/American", other_spelling),
]


# ---- measuring ----------------------------------------------------------------------------------------------------------------------


def key(name):
    return " ".join(misses.words(name))


def changed(names, change, seed):
    """[(changed name, the entities that the unchanged one means)], for names in a random order."""
    means = {}
    for name, entities in names.items():
        means.setdefault(key(name), set()).update(entities)
    chance = random.Random(seed)
    order = sorted(names)
    chance.shuffle(order)
    chosen = []
    for name in order:
        new = change(name, chance)
        gold = means[key(name)]
        is_other = new is None or (change is not unchanged and key(new) == key(name)) or not means.get(key(new), gold) <= gold
        if not is_other:
            chosen.append((new, gold))
        if len(chosen) == MOST:
            break
    return chosen


def ask(connection, chosen, match):
    """Of the questions, those with a right entity, with wrong ones only, and with any wrong one."""
    found = [set() for _ in chosen]
    questions = [QUESTION.format(name) for name, _ in chosen]
    argument = ", match => %s" if match else ""
    for n, entity in connection.execute(FIND.format(argument), (questions, match) if match else (questions,)):
        found[n].add(entity)
    pairs = [(entities, gold) for entities, (_, gold) in zip(found, chosen)]
    right = sum(bool(entities & gold) for entities, gold in pairs)
    only = sum(bool(entities) and not entities & gold for entities, gold in pairs)
    return right, only, sum(bool(entities - gold) for entities, gold in pairs)


def measure(connection, names, seed):
    (has_match,) = connection.execute(HAS_MATCH).fetchone()
    # As long as the function has no such argument, it finds exact names only.
    matches = MATCHES if has_match else [None]
    print(f"{len(names)} names, seed {seed}")
    print("| change | questions | match | found | wrong only | any wrong | for instance |\n| --- | --- | --- | --- | --- | --- | --- |")
    for kind, change in KINDS:
        chosen = changed(names, change, seed)
        for match in matches:
            counts = ask(connection, chosen, match)
            shares = " | ".join(f"{count / max(len(chosen), 1):.3f}" for count in counts)
            print(f"| {kind} | {len(chosen)} | {match or 'exact'} | {shares} | {chosen[0][0] if chosen else ''} |", flush=True)


def main():
    seed = int(sys.argv[1]) if sys.argv[1:] else SEED
    if not os.path.exists(os.path.join(mentions.DATA, "doid_edges.tsv")):
        print(f"changed: skipped, no Disease Ontology in {mentions.DATA} (CFTRAG_DATA)")
        return
    edges, names = mentions.dictionary()
    with psycopg.connect(dbname="postgres", autocommit=True, client_encoding="utf8") as server:
        server.execute("SET client_min_messages = warning")
        server.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        server.execute(f"CREATE DATABASE {DATABASE}")
        try:
            with psycopg.connect(dbname=DATABASE, autocommit=True, client_encoding="utf8") as connection:
                mentions.load(connection, edges, names)
                measure(connection, names, seed)
        finally:
            server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")


if __name__ == "__main__":
    main()
