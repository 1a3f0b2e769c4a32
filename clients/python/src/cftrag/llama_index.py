"""cftrag for LlamaIndex: a retriever. Installed by the extra llama-index.

    shop = Hierarchy(pool, edges="categories", documents="products", embed=embed_model.get_query_embedding)
    engine = RetrieverQueryEngine.from_args(CftragRetriever(shop, similarity_top_k=3), llm=llm)

The embedding of a question is that of its QueryBundle, if it has one, else the embed of the hierarchy makes it: for an AsyncHierarchy
embed=embed_model.aget_query_embedding.
"""

import asyncio
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from . import _nodes
from ._async import AsyncHierarchy
from ._rows import Retrieved
from ._sync import Hierarchy
from ._values import UNSET, Arg, Filter, Trees, Within


class CftragRetriever(BaseRetriever):
    """All rows of cft_retrieve, in its order, one node each.

    similarity_top_k is k of cft_retrieve: how many documents the question finds. Sentences of the hierarchy, and chunks (documents about the
    entities that the question names), come beside them; metadata["source"] says which a node is: "document", "hierarchy" or "chunk".
    With hierarchy_nodes=False and chunks=0 there are the similarity_top_k documents alone.

    score is 1 - distance: the cosine similarity where distances are cosine, as they are by default. Sentences, and documents without a distance,
    have None; a SimilarityPostprocessor drops these. The rows stay in the order of cft_retrieve, which is not always that of their scores.

    A node's id is that of the document, of a sentence one made of its words: the same in each call. Its metadata: source, entity, rank, distance,
    tokens, why and path; of these a language model is shown path.

    hierarchy: what is asked. An AsyncHierarchy serves aretrieve only; a Hierarchy serves both, aretrieve in a thread.
    async_hierarchy: what aretrieve asks, beside a Hierarchy.

    What is not given is not sent, so the server's defaults hold.
    """

    def __init__(
        self, hierarchy: Hierarchy | AsyncHierarchy, *, async_hierarchy: AsyncHierarchy | None = None, similarity_top_k: Arg[int] = UNSET,
        hierarchy_nodes: bool = True, chunks: Arg[int] = UNSET, up: Arg[int] = UNSET, down: Arg[int] = UNSET, budget: Arg[int] = UNSET, mode: Arg[str] = UNSET,
        edges: Arg[str] = UNSET, trees: Trees = UNSET, within: Within = UNSET, documents: Arg[str] = UNSET, filter: Filter = UNSET, match: Arg[str] = UNSET,
        narrow: Arg[bool] = UNSET, expand: Arg[str] = UNSET, callback_manager: CallbackManager | None = None, verbose: bool = False
    ) -> None:
        if not isinstance(hierarchy, (Hierarchy, AsyncHierarchy)):
            raise TypeError(f"hierarchy: a Hierarchy or AsyncHierarchy is needed, not {type(hierarchy).__name__}")
        self.hierarchy = hierarchy
        self.async_hierarchy = hierarchy if isinstance(hierarchy, AsyncHierarchy) else async_hierarchy
        self.hierarchy_nodes = hierarchy_nodes
        self.arguments: dict[str, Any] = {
            "k": similarity_top_k, "chunks": chunks, "up": up, "down": down, "budget": budget, "mode": mode, "edges": edges, "trees": trees,
            "within": within, "documents": documents, "filter": filter, "match": match, "narrow": narrow, "expand": expand,
        }
        super().__init__(callback_manager=callback_manager, verbose=verbose)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(_nodes.plain(self.hierarchy, "aretrieve").retrieve(query_bundle.query_str, _embedding(query_bundle), **self.arguments))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self.async_hierarchy is None:
            return await asyncio.to_thread(self._retrieve, query_bundle)
        return self._nodes(await self.async_hierarchy.retrieve(query_bundle.query_str, _embedding(query_bundle), **self.arguments))

    def _nodes(self, rows: list[Retrieved]) -> list[NodeWithScore]:
        return [_node(row) for row in rows if self.hierarchy_nodes or row.source != "hierarchy"]


def _embedding(query_bundle: QueryBundle) -> Arg[list[float]]:
    return UNSET if query_bundle.embedding is None else query_bundle.embedding


def _node(row: Retrieved) -> NodeWithScore:
    metadata = _nodes.metadata(row)
    unseen = [name for name in metadata if name != "path" or row.path is None]
    node = TextNode(
        id_=_nodes.node_id(row), text=row.text, metadata=metadata, excluded_llm_metadata_keys=unseen, excluded_embed_metadata_keys=list(metadata)
    )
    return NodeWithScore(node=node, score=_nodes.similarity(row))
