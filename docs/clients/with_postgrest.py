"""cftrag over HTTP: PostgREST calls a function by its name, with its arguments as JSON.

No packages. PostgREST's db-schemas names the schema of the extension; its role needs USAGE there, and SELECT on the edges and the documents.
Where a function has several forms, the name of the first argument chooses: entity, entities, id, ids, uuid or uuids.
"""

import json
from urllib.request import Request, urlopen


def rpc(url, function, **arguments):
    """What a function returns: a list of objects where it returns rows, else a value."""
    body = json.dumps(arguments).encode()
    with urlopen(Request(f"{url}/rpc/{function}", body, {"Content-Type": "application/json"})) as response:
        return json.load(response)


def prompt(url, question, embedding):
    # pgvector's types are given as text.
    return rpc(url, "cft_prompt", question=question, embedding=str(list(embedding)), k=3)


def contexts(url, entities):
    return rpc(url, "cft_context", entities=entities, up=2, down=1, edges="entity_edges")
