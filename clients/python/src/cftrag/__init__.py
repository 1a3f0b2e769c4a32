"""Client of the PostgreSQL extension cftrag: Hierarchy, AsyncHierarchy, and the rows that they return."""

from ._async import AsyncHierarchy
from ._rows import (
    BridgeEdge,
    CheckedEdge,
    Chunk,
    CoarseFine,
    CommonAncestor,
    ContextPart,
    DatabaseStatistics,
    Depth,
    DueSummary,
    EntityDocument,
    Expanded,
    Health,
    HierarchyEdge,
    HotEntity,
    Linked,
    Mention,
    NearestDocument,
    NearestEntity,
    Neighbor,
    Path,
    PathPrefix,
    Problem,
    Progress,
    Relation,
    Relative,
    Resolved,
    Retrieved,
    Rollup,
    RollupStatus,
    Root,
    Statistics,
    SubtreeSize,
    TreeFound,
)
from ._sync import Hierarchy
from ._values import UNSET

__all__ = [
    "AsyncHierarchy", "Hierarchy", "UNSET", "BridgeEdge", "CheckedEdge", "Chunk", "CoarseFine", "CommonAncestor", "ContextPart", "DatabaseStatistics",
    "Depth", "DueSummary", "EntityDocument", "Expanded", "Health", "HierarchyEdge", "HotEntity", "Linked", "Mention", "NearestDocument", "NearestEntity",
    "Neighbor", "Path", "PathPrefix", "Problem", "Progress", "Relation", "Relative", "Resolved", "Retrieved", "Rollup", "RollupStatus", "Root", "Statistics",
    "SubtreeSize", "TreeFound",
]
