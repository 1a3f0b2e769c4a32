"""cftrag.django on a database of its own: migrations forwards, backwards and as SQL, and the lookup compared with SQL."""

import io
import os
import uuid
from collections.abc import Iterator

import django
import psycopg
import pytest
from conftest import EMBEDDING, QUESTION
from django.conf import settings

DATABASE = f"cftrag_django_{os.getpid()}"
if not settings.configured:
    settings.configure(
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql", "NAME": DATABASE, "HOST": os.environ.get("PGHOST", ""), "PORT": os.environ.get("PGPORT", ""),
                "USER": os.environ.get("PGUSER", ""), "PASSWORD": os.environ.get("PGPASSWORD", ""),
            },
            "other": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"},
        },
        INSTALLED_APPS=["cftrag.django", "django_shop"],
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        CFTRAG_EDGES="django_shop_category",
    )
    django.setup()

from django.core.exceptions import ValidationError  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import NotSupportedError, connection, transaction  # noqa: E402
from django.db.migrations.writer import OperationWriter  # noqa: E402
from django.db.models import Count, Exists, F, OuterRef, Q  # noqa: E402
from django_shop.models import Category, Note, Product, Shelf, Unit  # noqa: E402

from cftrag import Hierarchy  # noqa: E402
from cftrag.django import Subtree  # noqa: E402
from cftrag.django.operations import AttachHierarchy, CftragExtension  # noqa: E402


def migrate(*arguments: str) -> None:
    call_command("migrate", *arguments, verbosity=0)


def sql(statement: str, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def attached() -> list[tuple[str, str]]:
    return sql("""SELECT tgrelid::regclass::text, split_part(pg_get_triggerdef(oid), 'FUNCTION ', 2) FROM pg_trigger
        WHERE tgname IN ('cftrag_row', 'cftrag_documents') ORDER BY 1""")


def extensions() -> list[str]:
    return [row[0] for row in sql("SELECT extname FROM pg_extension WHERE extname IN ('vector', 'cftrag') ORDER BY oid")]


@pytest.fixture(scope="module")
def database(dsn) -> Iterator[None]:
    with psycopg.connect("", autocommit=True) as server:
        server.execute(f"CREATE DATABASE {DATABASE}")
        try:
            yield
        finally:
            connection.close()
            server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


@pytest.fixture(scope="module")
def shop(database) -> None:
    migrate()
    for id, parent, name in [(1, None, "Sports"), (2, 1, "Shoes"), (3, 2, "Running shoes"), (4, 2, "Hiking boots"), (5, 3, "Trail shoes"), (7, None, "Camping"),
                             (8, 7, "Tents")]:
        Category.objects.create(id=id, parent_id=parent, name=name)
    for id, category, body, price in [(1, 5, "Grip for wet rock.", 120), (2, 8, "For two.", 300), (4, 3, "Light.", 90), (5, 4, "Warm.", 150),
                                      (9, None, "A bag.", 5)]:
        Product.objects.create(id=id, category_id=category, body=body, price=price, embedding=[id / 10, 1 - id / 10, 0.2])
    shelf = Shelf.objects.create(body="Left.", embedding=[1, 0, 0])
    shelf.categories.set([3, 8])
    for tree, above, name in [("organisation", "hospital", "medicine"), ("organisation", "medicine", "heart clinic"), ("building", "hospital", "heart clinic")]:
        Unit.objects.create(tree=tree, above=above, name=name)
    for unit in ("heart clinic", "medicine", "kitchen"):
        Note.objects.create(unit=unit, code=uuid.UUID(int=8))


@pytest.mark.server
def test_migrations_go_forwards_and_backwards(database):
    migrate("django_shop", "0001")
    assert extensions() == ["vector", "cftrag"]
    assert attached() == [("django_shop_category", "cftrag_internal.cft_capture('parent_id', 'id', '', 'name', '', 'position')")]
    migrate("django_shop", "0002")
    assert [row[0] for row in attached()] == ['"Units of all"', "django_shop_category", "django_shop_product", "django_shop_shelf"]
    assert attached()[0][1] == "cftrag_internal.cft_capture('parent unit', 'name', 'tree', '', '', '', 'german')"
    migrate("django_shop", "0001")
    assert [row[0] for row in attached()] == ["django_shop_category"]
    migrate("django_shop", "zero")
    assert extensions() == ["vector"] and attached() == []
    migrate()
    assert extensions() == ["vector", "cftrag"] and len(attached()) == 4
    migrate("django_shop", "zero")


@pytest.mark.server
@pytest.mark.parametrize("there", [False, True])
def test_sqlmigrate_writes_what_runs(database, there):
    """Whether the extensions are there or not, the text is the same; and run by itself it attaches what migrate attaches."""
    migrate(*([] if there else ["django_shop", "zero"]))
    if not there:
        sql("DROP EXTENSION IF EXISTS vector CASCADE")
    text = "".join(call_command("sqlmigrate", "django_shop", name, stdout=io.StringIO()) for name in ("0001", "0002"))
    assert text.index('CREATE EXTENSION IF NOT EXISTS "vector"') < text.index('CREATE EXTENSION IF NOT EXISTS "cftrag"') < text.index("CREATE TABLE")
    assert "SELECT cft_attach(edges => '\"django_shop_category\"'::text::regclass, parent => 'parent_id'::text::name, child => 'id'::text::name, " in text
    assert "columns => '{price}'::text[], show => '{price,id}'::text[]" in text
    back = call_command("sqlmigrate", "django_shop", "0002", backwards=True, stdout=io.StringIO())
    assert back.count("SELECT cft_detach(relation => ") == 3
    first = call_command("sqlmigrate", "django_shop", "0001", backwards=True, stdout=io.StringIO())
    assert first.index("cft_detach") < first.index("DROP TABLE") < first.index('DROP EXTENSION IF EXISTS "cftrag"')
    migrate("django_shop", "zero")
    sql("DROP EXTENSION IF EXISTS vector CASCADE")
    connection.close()
    sql(text + "")
    assert len(attached()) == 4 and extensions() == ["vector", "cftrag"]
    sql(back + first)
    assert attached() == [] and extensions() == ["vector"]
    connection.close()


def test_operations_are_written_as_they_were_given():
    for operation, text in [
        (AttachHierarchy("Unit", "above", child="name", names=["plural"]), "cftrag.django.operations.AttachHierarchy("),
        (CftragExtension(), "cftrag.django.operations.CftragExtension("),
    ]:
        written, imports = OperationWriter(operation, indentation=0).serialize()
        assert written.startswith(text) and imports == {"import cftrag.django.operations"}
        names = {}
        exec(f"import cftrag.django.operations\nmade = {written.rstrip().rstrip(',')}", names)
        assert getattr(names["made"], "options", None) == getattr(operation, "options", None)
    assert AttachHierarchy("Unit").describe() == "Attaches Unit by cft_attach"


@pytest.mark.server
def test_models_and_migrations_agree(database):
    call_command("makemigrations", "django_shop", check=True, dry_run=True, verbosity=0)


def ids(condition, *values):
    return [row[0] for row in sql(f"SELECT id FROM django_shop_product WHERE {condition} ORDER BY id", *values)]


def found(*conditions, **lookups):
    return list(Product.objects.filter(*conditions, **lookups).order_by("id").values_list("id", flat=True))


@pytest.mark.server
def test_under_is_cft_under(shop):
    edges = "edges => 'django_shop_category'"
    assert found(category__under=2) == ids(f"cft_under(category_id, 2, {edges})") == [1, 4, 5]
    assert found(category__under=Category.objects.get(name="Shoes")) == [1, 4, 5]
    assert found(category__under=[3, 8]) == ids(f"cft_under(category_id, '{{3,8}}'::text[], {edges})") == [1, 2, 4]
    assert found(category__under=list(Category.objects.filter(id__in=[3, 7]))) == [1, 2, 4]
    assert found(category__under=Category.objects.filter(name__startswith="T")) == [1, 2]
    assert found(category__under=Category.objects.filter(name="Shoes").values("id")) == [1, 4, 5]
    assert found(category_id__under="3", price__lt=100) == [4]
    assert found(~Q(category__under=3)) == ids(f"cft_under(category_id, 3, {edges}) IS NOT TRUE") == [2, 5, 9]
    assert list(Product.objects.exclude(category__under=3).order_by("id").values_list("id", flat=True)) == [2, 5, 9]
    assert found(Q(category__under=7) | Q(price__gt=140)) == [2, 5]
    assert found(category__under=[]) == [] and found(category__under=Subtree(2, trees=["nowhere"])) == [] and found(category__under=99) == []
    assert found(category__parent__under=3) == [1]
    assert found(small__under=7) == found(number__under=7) == [1, 2, 4, 5, 9] and found(small__under=2) == []
    assert list(Category.objects.filter(id__under=3).order_by("id").values_list("name", flat=True)) == ["Running shoes", "Trail shoes"]
    assert Shelf.objects.filter(categories__under=7).count() == 1 and Shelf.objects.filter(categories__under=4).count() == 0


@pytest.mark.server
def test_under_an_entity_of_each_row(shop):
    below = Product.objects.filter(category__under=OuterRef("pk"))
    assert list(Category.objects.filter(Exists(below)).order_by("id").values_list("id", flat=True)) == [1, 2, 3, 4, 5, 7, 8]
    counts = {category.name: category.products for category in Category.objects.annotate(products=Count("product", filter=Q(product__category__under=F("id"))))}
    assert counts["Running shoes"] == 1 and counts["Sports"] == 0
    assert found(category__under=F("category__parent")) == [1, 2, 4, 5]


@pytest.mark.server
def test_texts_uuids_other_tables_and_trees(shop):
    def notes(value, **lookups):
        return list(Note.objects.filter(unit__under=value, **lookups).order_by("unit").values_list("unit", flat=True))

    units = '"Units of all"'
    assert notes(Subtree("hospital", edges=units)) == ["heart clinic", "medicine"]
    assert notes(Subtree(["hospital"], edges=units, trees=["building"])) == ["heart clinic"]
    assert notes(Subtree("medicine", units), code__under=uuid.UUID(int=8)) == ["heart clinic", "medicine"]
    assert notes(Subtree("kitchen", units)) == ["kitchen"]
    Note.objects.create(unit="pharmacy", code=(code := uuid.UUID("abcdef00-0000-0000-0000-000000000001")))
    for given in (code, str(code), str(code).upper(), code.hex, code.int, [code.hex, None]):
        assert Note.objects.get(code__under=given).unit == "pharmacy"
    with pytest.raises(ValidationError):
        Note.objects.get(code__under="no uuid")


@pytest.mark.server
def test_an_index_serves_it(shop):
    with transaction.atomic():
        sql("SET LOCAL enable_seqscan = off")
        plan = Product.objects.filter(category__under=2).explain()
    assert "Index Cond: (category_id = ANY (" in plan and "cft_descendants('{2}'::text[]" in plan


@pytest.mark.server
def test_a_lookup_can_be_hashed_and_pickled_with_its_query(shop):
    queryset = Product.objects.filter(category__under=Subtree([2], trees=None))
    assert len({child for child in queryset.query.where.children}) == 1
    assert queryset.union(Product.objects.filter(category__under=7)).count() == 4


@pytest.mark.server
def test_what_is_refused(shop):
    for value in (1.5, {"id": 2}, b"x"):
        with pytest.raises(TypeError, match="^under: "):
            found(category__under=value)
    with pytest.raises(ValueError, match="None"):
        found(category__under=None)
    with pytest.raises(ValueError, match="Product"):
        found(category__under=Product.objects.first())
    with pytest.raises(NotSupportedError, match="PostgreSQL"):
        list(Product.objects.using("other").filter(category__under=2))


@pytest.mark.server
def test_what_the_migrations_attached_answers_a_question(shop):
    connection.ensure_connection()
    asked = Hierarchy(connection.connection, edges="django_shop_category", documents="django_shop_product")
    rows = asked.retrieve(QUESTION, EMBEDDING, k=2, filter={"price": {"$lt": 200}})
    expected = sql("SELECT source, document_id, text FROM cft_retrieve(%s, %s::text::vector, k => 2, edges => 'django_shop_category', "
                   "documents => 'django_shop_product', filter => '{\"price\": {\"$lt\": 200}}')", QUESTION, str(EMBEDDING))
    assert expected and [(row.source, row.document_id, row.text) for row in rows] == expected
    assert {row.source for row in rows} == {"document", "hierarchy", "chunk"}
    assert [row.document_id for row in asked.documents(3, documents="django_shop_shelf")] == ["1"]
