from django.db import migrations

from cftrag.django.operations import AttachDocuments, AttachHierarchy


class Migration(migrations.Migration):
    dependencies = [("django_shop", "0001_initial")]
    operations = [
        AttachHierarchy("Unit", parent="above", child="name", tree="tree", language="german"),
        AttachDocuments("Product", entity="category", columns=["price"], show=["price", "id"], edges="Category"),
        AttachDocuments("Shelf", mapping="django_shop.Shelf_categories", mapping_entity="category", mapping_document="shelf", edges="django_shop.Category"),
    ]
