"""cftrag for Django: the lookup under, and operations for migrations. Installed by the extra django.

    INSTALLED_APPS = [..., "cftrag.django"]

    Product.objects.filter(category__under=2, price__lt=100)
    Product.objects.filter(category__under=Category.objects.filter(name="Shoes"))
    Product.objects.filter(category__under=Subtree([2, 7], edges="links", trees=["web"]))

Which edges table is asked: the one of the Subtree, else the setting CFTRAG_EDGES, else the only one that is attached.
"""

from ._subtree import Subtree

__all__ = ["Subtree"]
