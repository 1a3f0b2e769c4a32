"""What the lookup under takes where an entity alone does not say enough."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .._values import UNSET, Arg, Trees


@dataclass(frozen=True)
class Subtree:
    """An ancestor, or several, in this edges table, in these trees."""

    ancestors: Any | Iterable[Any]
    edges: Arg[str] = UNSET
    trees: Trees = UNSET
