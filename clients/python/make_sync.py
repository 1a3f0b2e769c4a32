"""Makes src/cftrag/_sync.py from _async.py; with --check it says whether that is current.

Only words are replaced: a method of AsyncHierarchy and of Hierarchy are the same but for async and await.
"""

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).parent / "src" / "cftrag"
WORDS = [
    ("_sync.py is made from this file by make_sync.py.", "Made from _async.py by make_sync.py: edit that."),
    (", asked asynchronously", ""),
    ("of psycopg 3 or asyncpg", "of psycopg 3"),
    ("embedded_async", "embedded"),
    ("__aenter__", "__enter__"),
    ("__aexit__", "__exit__"),
    ("async def ", "def "),
    ("await ", ""),
]


def sync(text: str) -> str:
    for word, other in WORDS:
        text = text.replace(word, other)
    return re.sub(r"\bAsync(Hierarchy|Connections|Embed)\b", r"\1", text)


def made() -> str:
    return sync((SOURCE / "_async.py").read_text())


if __name__ == "__main__":
    path = SOURCE / "_sync.py"
    if "--check" not in sys.argv:
        path.write_text(made())
    elif path.read_text() != made():
        sys.exit("_sync.py is not current: python make_sync.py")
