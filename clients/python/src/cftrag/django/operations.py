"""Operations for migrations: the extension, and what cft_attach and cft_attach_documents attach.

    operations = [
        CftragExtension(),
        migrations.CreateModel("Category", ...),
        AttachHierarchy("Category", parent="parent", label="name"),
        AttachDocuments("Product", entity="category", columns=["price"]),
    ]

Fields and models are named as in Django; the tables and columns are theirs at that point of the migrations. After a field that is attached was renamed
attach again: what is given then is in the place of what was.
"""

import re
from collections.abc import Sequence
from typing import Any

from django.contrib.postgres.operations import CreateExtension
from django.db import router
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState, StateApps
from django.db.models import Model

from .. import _values as send
from .._values import UNSET, Arg


class CftragExtension(CreateExtension):
    """CREATE EXTENSION vector, which cftrag needs, then cftrag, where they are not there. Backwards: DROP EXTENSION cftrag; vector stays."""

    def __init__(self) -> None:
        super().__init__("cftrag")

    def database_forwards(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState) -> None:
        if self._is_written(app_label, schema_editor):
            schema_editor.execute('CREATE EXTENSION IF NOT EXISTS "vector"')
            schema_editor.execute('CREATE EXTENSION IF NOT EXISTS "cftrag"')
        else:
            CreateExtension("vector").database_forwards(app_label, schema_editor, from_state, to_state)
            super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState) -> None:
        if self._is_written(app_label, schema_editor):
            schema_editor.execute('DROP EXTENSION IF EXISTS "cftrag"')
        else:
            super().database_backwards(app_label, schema_editor, from_state, to_state)

    def _is_written(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor) -> bool:
        """Whether sqlmigrate writes it: the same SQL whatever its database has, since it will run on another."""
        connection = schema_editor.connection
        return schema_editor.collect_sql and connection.vendor == "postgresql" and router.allow_migrate(connection.alias, app_label)


class _Attach(Operation):
    """A call of a function that attaches a model's table. Backwards: cft_detach."""

    reversible = True
    reduces_to_sql = True
    function: str
    table: str
    fields: tuple[str, ...]
    """Options that name fields of the model, one or several."""

    def __init__(self, model_name: str, **options: Any) -> None:
        self.model_name = model_name
        self.options = options

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        pass

    def database_forwards(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState) -> None:
        model = _model(to_state.apps, app_label, self.model_name)
        if self.allow_migrate_model(schema_editor.connection.alias, model):
            given = {name: value for name, value in self.options.items() if value is not UNSET}
            arguments = {self.table: schema_editor.quote_name(model._meta.db_table)} | self._arguments(to_state.apps, app_label, schema_editor, model, given)
            _execute(schema_editor, self.function, arguments)

    def database_backwards(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState) -> None:
        model = _model(from_state.apps, app_label, self.model_name)
        if self.allow_migrate_model(schema_editor.connection.alias, model):
            _execute(schema_editor, "cft_detach", {"relation": schema_editor.quote_name(model._meta.db_table)})

    def describe(self) -> str:
        return f"Attaches {self.model_name} by {self.function}"

    @property
    def migration_name_fragment(self) -> str:
        return f"attach_{self.model_name.lower()}"

    def _arguments(self, apps: StateApps, app_label: str, schema_editor: BaseDatabaseSchemaEditor, model: type[Model], given: dict[str, Any]) -> dict[str, Any]:
        """The options as arguments of the function: fields as columns."""
        return {name: _columns(model, value) if name in self.fields else value for name, value in given.items()}


class AttachHierarchy(_Attach):
    """cft_attach: the rows of a model are edges, of parent to child. child: by default the primary key, as in a model with a foreign key to itself."""

    function = "cft_attach"
    table = "edges"
    fields = ("parent", "child", "tree", "label", "sort", "names")

    def __init__(
        self, model_name: str, parent: str = "parent", child: str = "pk", *, tree: Arg[str] = UNSET, label: Arg[str] = UNSET, sort: Arg[str] = UNSET,
        ids: Arg[bool] = UNSET, language: Arg[str] = UNSET, names: Arg[Sequence[str]] = UNSET
    ) -> None:
        super().__init__(model_name, parent=parent, child=child, tree=tree, label=label, sort=sort, ids=ids, language=language, names=names)


class AttachDocuments(_Attach):
    """cft_attach_documents: the rows of a model are documents. entity: the foreign key or field that says what they are about; or mapping, the
    model of pairs (of a ManyToManyField its through model), with the fields mapping_entity and mapping_document. edges: a model.
    """

    function = "cft_attach_documents"
    table = "documents"
    fields = ("id", "body", "embedding", "entity", "tokens", "metadata", "search", "columns", "sort", "show", "tree")

    def __init__(
        self, model_name: str, *, id: str = "pk", body: Arg[str] = UNSET, embedding: Arg[str] = UNSET, entity: Arg[str] = UNSET, tokens: Arg[str] = UNSET,
        mapping: Arg[str] = UNSET, mapping_entity: Arg[str] = UNSET, mapping_document: Arg[str] = UNSET, metadata: Arg[str] = UNSET,
        search: Arg[str] = UNSET, columns: Arg[Sequence[str]] = UNSET, sort: Arg[str] = UNSET, show: Arg[Sequence[str]] = UNSET, link: Arg[bool] = UNSET,
        match: Arg[str] = UNSET, edges: Arg[str] = UNSET, tree: Arg[str] = UNSET
    ) -> None:
        super().__init__(
            model_name, id=id, body=body, embedding=embedding, entity=entity, tokens=tokens, mapping=mapping, mapping_entity=mapping_entity,
            mapping_document=mapping_document, metadata=metadata, search=search, columns=columns, sort=sort, show=show, link=link, match=match, edges=edges,
            tree=tree
        )

    def _arguments(self, apps: StateApps, app_label: str, schema_editor: BaseDatabaseSchemaEditor, model: type[Model], given: dict[str, Any]) -> dict[str, Any]:
        arguments = super()._arguments(apps, app_label, schema_editor, model, given)
        for name in ("mapping", "edges"):
            if arguments.get(name) is not None:
                other = _model(apps, app_label, given[name])
                arguments[name] = schema_editor.quote_name(other._meta.db_table)
                if name == "mapping":
                    pairs = ("mapping_entity", "mapping_document")
                    arguments |= {field: _columns(other, given[field]) for field in pairs if field in given}
        return arguments


def _model(apps: StateApps, app_label: str, name: str) -> type[Model]:
    """A model by its name, of this app, or as app.Model."""
    model: type[Model] = apps.get_model(name) if "." in name else apps.get_model(app_label, name)
    return model


def _columns(model: type[Model], fields: str | Sequence[str] | None) -> Any:
    """The column of a field; of several a list; pk is the primary key."""
    if fields is None or isinstance(fields, str):
        field: Any = model._meta.pk if fields == "pk" else None if fields is None else model._meta.get_field(fields)
        return None if field is None else field.column
    return [_columns(model, field) for field in fields]


def _execute(schema_editor: BaseDatabaseSchemaEditor, function: str, arguments: dict[str, Any]) -> None:
    call, values = send.call(function, arguments, send.TABLES)
    schema_editor.execute(f"SELECT {re.sub(r'[$][0-9]+', '%s', call)}", values)
