"""cftrag for LangChain: a retriever, and two tools for agents. Installed by the extra langchain.

The embedding of a question is made by the embed of the hierarchy: Hierarchy(pool, embed=embeddings.embed_query), and for an
AsyncHierarchy embed=embeddings.aembed_query.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import run_in_executor
from langchain_core.tools import BaseTool, ToolException
from langchain_core.tools.base import ArgsSchema
from pydantic import BaseModel, ConfigDict, Field, StrictInt

from ._async import AsyncHierarchy
from ._nodes import metadata, node_id, plain
from ._rows import Resolved, Retrieved
from ._sync import Hierarchy

ARGUMENTS = ("k", "chunks", "up", "down", "budget", "mode", "edges", "trees", "within", "documents", "filter", "match", "narrow", "expand")


class CftragRetriever(BaseRetriever):
    """All rows of cft_retrieve, in its order, one Document each.

    `k` is that of cft_retrieve: how many documents the question finds. Sentences of the hierarchy and chunks (documents about the entities
    that the question names) come beside them. With chunks=0 and hierarchy_documents=False there are the k documents alone.

    A Document's id is that of the row, of a sentence one made of its words. Its metadata: source ("document", "hierarchy" or "chunk"),
    entity, rank, distance, tokens, why, path.

    What is not set is not sent, so the server's defaults hold. Each call may give other arguments: retriever.invoke(question, k=3, within="2").
    """

    hierarchy: Hierarchy | AsyncHierarchy
    """What is asked. An AsyncHierarchy serves ainvoke only; a Hierarchy serves both, ainvoke in a thread."""
    async_hierarchy: AsyncHierarchy | None = None
    """What ainvoke asks, beside a Hierarchy."""
    k: int | None = None
    chunks: int | None = None
    up: int | None = None
    down: int | None = None
    budget: int | None = None
    mode: str | None = None
    edges: str | None = None
    trees: list[str | StrictInt | UUID | None] | None = None
    within: str | StrictInt | UUID | list[str | StrictInt | UUID] | None = None
    documents: str | None = None
    filter: dict[str, Any] | str | None = None
    match: str | None = None
    narrow: bool | None = None
    expand: str | None = None
    hierarchy_documents: bool = True
    """Whether the sentences of the hierarchy come, too."""
    score_threshold: float | None = None
    """The greatest distance that a document or chunk may have: the smaller, the nearer, unlike a similarity. Rows without a distance stay."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun | None = None, **arguments: Any) -> list[Document]:
        return self._documents(plain(self.hierarchy, "ainvoke").retrieve(query, **(self._set() | arguments)))

    async def _aget_relevant_documents(self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun | None = None, **arguments: Any) -> list[Document]:
        hierarchy = _async(self)
        if hierarchy is None:
            return await run_in_executor(None, self._get_relevant_documents, query, **arguments)
        return self._documents(await hierarchy.retrieve(query, **(self._set() | arguments)))

    def _set(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ARGUMENTS if name in self.model_fields_set}

    def _documents(self, rows: list[Retrieved]) -> list[Document]:
        return [_document(row) for row in rows if (self.hierarchy_documents or row.source != "hierarchy") and self._near(row)]

    def _near(self, row: Retrieved) -> bool:
        return self.score_threshold is None or row.distance is None or row.distance <= self.score_threshold


Levels = Annotated[int, Field(ge=0, le=1000)]


class Question(BaseModel):
    question: str = Field(description="The question, in full and in plain words, with the names of the things that it is about")


class Name(BaseModel):
    name: str = Field(description="What the thing is called, or a path such as 'Attic > Shelves'")
    up: Levels | None = Field(default=None, description="How many levels above it")
    down: Levels | None = Field(default=None, description="How many levels below it")


class CftragSearchTool(BaseTool):
    """For agents: what a retriever finds, as a text; the Documents are the artifact."""

    name: str = "search_documents"
    description: str = "Finds documents that answer a question, and where the things that it names stand in the hierarchy."
    args_schema: ArgsSchema | None = Question
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    retriever: CftragRetriever

    def _run(self, question: str) -> tuple[str, list[Document]]:
        with _errors_of_tools():
            return _listed(self.retriever.invoke(question))

    async def _arun(self, question: str) -> tuple[str, list[Document]]:
        with _errors_of_tools():
            return _listed(await self.retriever.ainvoke(question))


class CftragHierarchyTool(BaseTool):
    """For agents: what is above and below the things of a name, drawn as trees; the rows of resolve are the artifact."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str = "show_hierarchy"
    description: str = "Shows what is above and below a thing in the hierarchy, by its name."
    args_schema: ArgsSchema | None = Name
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    hierarchy: Hierarchy | AsyncHierarchy
    async_hierarchy: AsyncHierarchy | None = None

    def _run(self, name: str, up: int | None = None, down: int | None = None) -> tuple[str, list[Resolved]]:
        hierarchy, levels = plain(self.hierarchy, "ainvoke"), _levels(up, down)
        with _errors_of_tools():
            found = hierarchy.resolve(name)
            return _drawn(name, [hierarchy.tree(row.entity, **levels) for row in found]), found

    async def _arun(self, name: str, up: int | None = None, down: int | None = None) -> tuple[str, list[Resolved]]:
        hierarchy, levels = _async(self), _levels(up, down)
        if hierarchy is None:
            return await run_in_executor(None, self._run, name, up, down)
        with _errors_of_tools():
            found = await hierarchy.resolve(name)
            return _drawn(name, [await hierarchy.tree(row.entity, **levels) for row in found]), found


@contextmanager
def _errors_of_tools() -> Iterator[None]:
    """Errors of a driver as those of a tool, which an agent is told where handle_tool_error says so. Their text has the hint."""
    try:
        yield
    except Exception as error:
        if not any(kind.__module__.split(".")[0] in ("psycopg", "psycopg_pool", "asyncpg") for kind in type(error).__mro__):
            raise
        raise ToolException(str(error)) from error


def _async(component: CftragRetriever | CftragHierarchyTool) -> AsyncHierarchy | None:
    return component.hierarchy if isinstance(component.hierarchy, AsyncHierarchy) else component.async_hierarchy


def _document(row: Retrieved) -> Document:
    return Document(id=node_id(row), page_content=row.text, metadata=metadata(row))


def _levels(up: int | None, down: int | None) -> dict[str, Any]:
    return {name: value for name, value in (("up", up), ("down", down)) if value is not None}


def _listed(documents: list[Document]) -> tuple[str, list[Document]]:
    def line(document: Document) -> str:
        if document.metadata["source"] == "hierarchy":
            return document.page_content
        path = document.metadata["path"]
        return f"[{document.id}] {path + ': ' if path else ''}{document.page_content}"

    return "\n".join(map(line, documents)) or "Nothing was found.", documents


def _drawn(name: str, trees: list[str | None]) -> str:
    return "\n\n".join(tree for tree in trees if tree) or f'Nothing is called "{name}".'
