"""The lookup under: cft_under as a condition."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import NotSupportedError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field, ForeignKey, Lookup, Model, UUIDField
from django.db.models.sql import Query
from django.db.models.sql.compiler import SQLCompiler

from .. import _values as send
from ._subtree import Subtree

if TYPE_CHECKING:
    _Lookup = Lookup[Any]
else:
    _Lookup = Lookup

# cft_under has forms for integer, bigint, uuid and text; to these the other types of ids are cast.
CASTS = {"SmallIntegerField": "::integer", "PositiveSmallIntegerField": "::integer", "SmallAutoField": "::integer", "DecimalField": "::text"}


class Under(_Lookup):
    """Whether a column's entity is one of these, or below one, at any depth. An index on the column serves it.

    What it takes: an entity (an id, a text, an object of the model), a list of these, a QuerySet of them, an F or OuterRef, or a Subtree.
    """

    lookup_name = "under"

    def get_prep_lookup(self) -> Any:
        if self.rhs is None or hasattr(self.rhs, "resolve_expression"):
            return self.rhs
        subtree = self.rhs if isinstance(self.rhs, Subtree) else Subtree(self.rhs)
        trees = subtree.trees if subtree.trees is None or subtree.trees is send.UNSET else tuple(subtree.trees)
        return Subtree(tuple(self._entities(subtree.ancestors)), subtree.edges, trees)  # Tuples, since Django hashes lookups.

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
        if connection.vendor != "postgresql":
            raise NotSupportedError("under is a lookup of cftrag, an extension of PostgreSQL")
        column, parameters = self.process_lhs(compiler, connection)
        column += CASTS.get(self._field().get_internal_type(), "")
        asked, values = self._ancestors(compiler)
        return f"cft_under({', '.join([column, *asked])})", (*parameters, *values)

    def _ancestors(self, compiler: SQLCompiler) -> tuple[list[str], list[Any]]:
        """The arguments after the first, and their parameters."""
        rhs: Any = self.rhs
        values: list[Any]
        if isinstance(rhs, Subtree):
            subtree, ancestors, values = rhs, "%s::text[]", [list(rhs.ancestors)]
        else:
            if isinstance(rhs, Query) and not rhs.has_select_fields:
                rhs.clear_select_clause()
                rhs.add_fields(["pk"])
            ancestors, found = compiler.compile(rhs)
            subtree, values = Subtree(None), list(found)
            if isinstance(rhs, Query):
                ancestors = f"ARRAY{ancestors}::text[]"
        given = {"edges": getattr(settings, "CFTRAG_EDGES", send.UNSET) if subtree.edges is send.UNSET else subtree.edges, "trees": subtree.trees}
        asked = [ancestors]
        for name, value in given.items():
            if value is not send.UNSET:
                kind = send.ASKING[name]
                asked.append(f"{name} => %s::{kind.cast}")
                values.append(None if value is None else kind.convert(value))
        return asked, values

    def _field(self) -> "Field[Any, Any]":
        """The field that has the ids: of a foreign key the one that it points to."""
        field: Any = self.lhs.output_field
        while isinstance(field, ForeignKey):
            field = field.target_field
        return field  # type: ignore[no-any-return]

    def _entities(self, given: Any) -> list[str | None]:
        """An entity or several, or objects of the model, as texts."""
        several = isinstance(given, Iterable) and not isinstance(given, (*send.ONE, bytes, Mapping))
        found = [self._id(item) for item in (given if several else [given])]
        try:
            texts: list[str | None] = send.LIST.convert(found)
        except TypeError as error:
            raise TypeError(f"under: {error}") from None
        return texts

    def _id(self, item: Any) -> Any:
        while isinstance(item, Model):
            output: Any = self.lhs.output_field
            item = getattr(item, output.target_field.attname) if isinstance(output, ForeignKey) else item.pk
        field = self._field()
        return field.to_python(item) if isinstance(field, UUIDField) else item  # A text of other letters or without hyphens is the same id.
