"""What comes back: a class for the rows of each function and view. The fields are the columns, by the names that SQL has."""

from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any

# What drivers give differently: names of objects, as numbers; a real, with the digits that a double shows of it.
CASTS = {
    "Mention.score": "score::text::float8",
    "Rollup.by_function": "by_function::text",
    "Statistics.edges": "edges::text",
    "Progress.edges": "edges::text",
}


def columns(row: type[Any]) -> str:
    """The columns to select for a class of rows."""
    return ", ".join(CASTS.get(f"{row.__name__}.{column.name}", column.name) for column in fields(row))


@dataclass(frozen=True, slots=True)
class Relative:
    """An ancestor or descendant of an entity."""

    entity: str
    tree: str | None
    relation: str
    depth: int
    relative: str
    via: str
    label: str | None


@dataclass(frozen=True, slots=True)
class ContextPart:
    """A sentence about an entity, of one tree and direction."""

    entity: str
    tree: str | None
    relation: str
    text: str


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity that a text mentions; start counts characters from 1."""

    entity: str
    mention: str
    start: int
    length: int
    via_alias: str | None
    label: str | None
    method: str
    score: float


@dataclass(frozen=True, slots=True)
class Resolved:
    """An entity that a mention may mean, by which method."""

    entity: str
    score: float
    method: str
    label: str | None


@dataclass(frozen=True, slots=True)
class Linked:
    """An entity that a document is about or mentions."""

    entity: str
    label: str | None
    mentions: int | None


@dataclass(frozen=True, slots=True)
class EntityDocument:
    """A document that is about an entity or mentions it."""

    document_id: str
    mentions: int | None


@dataclass(frozen=True, slots=True)
class NearestDocument:
    """A document near to an embedding."""

    document_id: str
    entity: str | None
    body: str
    tokens: int
    distance: float


@dataclass(frozen=True, slots=True)
class NearestEntity:
    """An entity near to an embedding."""

    entity: str
    distance: float
    score: float
    label: str | None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A document about an entity or one of its relatives."""

    entity: str
    relation: str
    depth: int
    relative: str
    document_id: str
    body: str
    tokens: int
    distance: float | None


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A row of cft_retrieve: a document, a sentence of the hierarchy or a chunk (source), and why it is there."""

    source: str
    entity: str | None
    document_id: str | None
    rank: int
    distance: float | None
    text: str
    tokens: int
    why: str
    path: str | None


@dataclass(frozen=True, slots=True)
class Neighbor:
    """An entity some steps away."""

    tree: str | None
    hops: int
    neighbor: str
    via: str
    label: str | None


@dataclass(frozen=True, slots=True)
class Path:
    """A shortest path between two entities."""

    tree: str | None
    hops: int
    path: list[str]
    steps: list[str]
    labels: list[str | None] | None


@dataclass(frozen=True, slots=True)
class CommonAncestor:
    """A lowest common ancestor of two entities."""

    tree: str | None
    ancestor: str
    depth_a: int
    depth_b: int
    label: str | None


@dataclass(frozen=True, slots=True)
class Depth:
    """Steps up to the nearest root of a tree."""

    tree: str | None
    depth: int | None


@dataclass(frozen=True, slots=True)
class SubtreeSize:
    """How many entities are under one, itself counted."""

    tree: str | None
    size: int


@dataclass(frozen=True, slots=True)
class Root:
    """An entity without a parent in a tree."""

    tree: str | None
    root: str
    label: str | None


@dataclass(frozen=True, slots=True)
class PathPrefix:
    """The path from the top to an entity, in one of its trees."""

    entity: str
    tree: str | None
    path: list[str]
    prefix: str


@dataclass(frozen=True, slots=True)
class TreeFound:
    """An entity that a search of the tree found."""

    entity: str
    tree: str | None
    depth: int | None
    score: float
    path: list[str] | None
    text: str | None
    tokens: int | None
    compared: int | None
    label: str | None


@dataclass(frozen=True, slots=True)
class Expanded:
    """An entity between those that were found."""

    entity: str
    tree: str | None
    common: str | None
    support: int
    hit: bool
    leaf: bool
    path: list[str] | None
    text: str | None
    tokens: int | None
    label: str | None
    more: int


@dataclass(frozen=True, slots=True)
class BridgeEdge:
    """An edge of the tree that joins entities."""

    tree: str | None
    apex: str
    depth: int
    parent: str
    child: str
    leads_to: list[str]
    parent_label: str | None
    child_label: str | None


@dataclass(frozen=True, slots=True)
class CoarseFine:
    """An entity of the global, bridge or local part."""

    part: str
    entity: str
    tree: str | None
    score: float | None
    under: str | None
    text: str | None
    tokens: int | None
    label: str | None


@dataclass(frozen=True, slots=True)
class HierarchyEdge:
    """An edge of a hierarchy that was made of a graph."""

    tree: str
    parent: str
    child: str
    entropy_before: float
    entropy_after: float


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that a sentence says."""

    parent: str
    child: str
    relation: str
    sentence: str


@dataclass(frozen=True, slots=True)
class CheckedEdge:
    """A row of parent and child, whether it belongs into a forest, and if not, why."""

    tree: str | None
    parent: str | None
    child: str | None
    kept: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class Rollup:
    """How many summaries were made, by which function."""

    summarized: int
    by_function: str
    extractive: bool


@dataclass(frozen=True, slots=True)
class DueSummary:
    """An entity whose summary is due, and what is to be summarised."""

    entity: str
    sources: list[str]
    inputs: list[str]
    tokens: int


@dataclass(frozen=True, slots=True)
class RollupStatus:
    """How far the summaries of a forest are."""

    entities: int
    leaves: int
    documents: int
    due: int
    fewer: Decimal | None


@dataclass(frozen=True, slots=True)
class Problem:
    """A difference between image and table."""

    problem: str
    tree: str | None
    parent: str | None
    child: str | None
    in_table: int | None
    in_image: int | None


@dataclass(frozen=True, slots=True)
class Health:
    """Whether all is well: status is ok, warning or critical; hint is the line to type. checked: with detail, what this row is about."""

    status: str
    reason: str
    hint: str | None
    checked: str | None


@dataclass(frozen=True, slots=True)
class HotEntity:
    """An entity, and how often it was asked for."""

    entity: str
    temperature: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """A row of pg_stat_cftrag: the image of an attached table and its counters."""

    edges: str | None
    state: str
    serves: bool | None
    reason: str | None
    entities: int | None
    edge_rows: int | None
    buckets: int | None
    load_factor: float | None
    kicks: int | None
    growths: int | None
    fingerprint_checks: int | None
    false_positives: int | None
    lookups: int | None
    hits: int | None
    image_calls: int
    reference_calls: int
    memory_bytes: int | None
    built_at: datetime | None
    build_ms: float | None
    trees: int | None
    versions: int | None
    ref_disabled: int
    ref_no_memory: int
    ref_no_image: int
    ref_incomplete: int
    ref_old_snapshot: int
    ref_pending_trigger: int
    ref_serializable: int
    ref_created_here: int
    ref_rewritten: int
    ref_triggers: int
    ref_columns: int
    ref_not_plain_table: int
    ref_row_security: int
    ref_privilege: int
    ref_parallel: int
    ref_recovery: int
    ref_xid_too_old: int
    ref_encoding: int
    build_error: str | None


@dataclass(frozen=True, slots=True)
class DatabaseStatistics:
    """A row of pg_stat_cftrag_databases: places and memory of the tables of a database."""

    datid: int
    datname: str | None
    places: int
    images: int
    gone: int
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Progress:
    """A row of pg_stat_progress_cftrag: a build that is under way."""

    edges: str
    phase: str | None
    edges_done: int | None
    edges_total: int | None
    started: datetime | None
    builder: int | None
    waits_for: int | None
    waits_for_gid: str | None
