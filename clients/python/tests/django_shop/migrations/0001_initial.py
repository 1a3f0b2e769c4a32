import django.db.models.deletion
import pgvector.django
from django.db import migrations, models

import cftrag.django.operations


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        cftrag.django.operations.CftragExtension(),
        migrations.CreateModel(
            name="Category",
            fields=[
                ("id", models.AutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("parent", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to="django_shop.category")),
                ("name", models.TextField()),
                ("position", models.SmallIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Product",
            fields=[
                ("id", models.AutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("category", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to="django_shop.category")),
                ("body", models.TextField()),
                ("price", models.DecimalField(max_digits=8, decimal_places=2)),
                ("embedding", pgvector.django.VectorField(dimensions=3)),
                ("small", models.SmallIntegerField(default=8)),
                ("number", models.DecimalField(max_digits=4, decimal_places=0, default=8)),
            ],
        ),
        migrations.CreateModel(
            name="Shelf",
            fields=[
                ("id", models.AutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("categories", models.ManyToManyField(to="django_shop.category")),
                ("body", models.TextField()),
                ("embedding", pgvector.django.VectorField(dimensions=3)),
            ],
        ),
        migrations.CreateModel(
            name="Unit",
            fields=[
                ("id", models.AutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tree", models.TextField(null=True)),
                ("above", models.TextField(db_column="parent unit")),
                ("name", models.TextField()),
            ],
            options={"db_table": "Units of all"},
        ),
        migrations.CreateModel(
            name="Note",
            fields=[
                ("id", models.AutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("unit", models.CharField(max_length=40)),
                ("code", models.UUIDField(null=True)),
            ],
        ),
        cftrag.django.operations.AttachHierarchy("Category", label="name", sort="position"),
    ]
