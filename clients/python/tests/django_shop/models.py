"""Categories and their products; units of a table of edges with two trees, and what is about them."""

from django.db import models
from pgvector.django import VectorField


class Category(models.Model):
    parent = models.ForeignKey("self", models.CASCADE, null=True)
    name = models.TextField()
    position = models.SmallIntegerField(default=0)


class Product(models.Model):
    category = models.ForeignKey(Category, models.CASCADE, null=True)
    body = models.TextField()
    price = models.DecimalField(max_digits=8, decimal_places=2)
    embedding = VectorField(dimensions=3)
    small = models.SmallIntegerField(default=8)
    number = models.DecimalField(max_digits=4, decimal_places=0, default=8)


class Shelf(models.Model):
    categories = models.ManyToManyField(Category)
    body = models.TextField()
    embedding = VectorField(dimensions=3)


class Unit(models.Model):
    tree = models.TextField(null=True)
    above = models.TextField(db_column="parent unit")
    name = models.TextField()

    class Meta:
        db_table = "Units of all"


class Note(models.Model):
    unit = models.CharField(max_length=40)
    code = models.UUIDField(null=True)
