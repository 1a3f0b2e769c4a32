"""What components of frameworks make of a row of cft_retrieve: an id, metadata and a score. Imports no framework."""

import hashlib
from typing import Any

from ._async import AsyncHierarchy
from ._rows import Retrieved
from ._sync import Hierarchy

METADATA = ("source", "entity", "rank", "distance", "tokens", "why", "path")


def node_id(row: Retrieved) -> str:
    """The id of the document; of a sentence one made of its entity and words, the same in each call."""
    return row.document_id or f"hierarchy:{row.entity}:{hashlib.sha256(row.text.encode()).hexdigest()[:16]}"


def metadata(row: Retrieved) -> dict[str, Any]:
    return {name: getattr(row, name) for name in METADATA}


def similarity(row: Retrieved) -> float | None:
    """1 - distance: the cosine similarity where distances are cosine, as they are by default. None for a row without a distance."""
    return None if row.distance is None else 1 - row.distance


def plain(hierarchy: Hierarchy | AsyncHierarchy, method: str) -> Hierarchy:
    """The hierarchy that a call which is not asynchronous asks."""
    if isinstance(hierarchy, AsyncHierarchy):
        raise TypeError(f"an AsyncHierarchy serves {method} only: give hierarchy=Hierarchy(...), and this one as async_hierarchy")
    return hierarchy
