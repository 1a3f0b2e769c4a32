"""The app: it registers the lookup."""

from django.apps import AppConfig
from django.db.models import CharField, DecimalField, ForeignKey, IntegerField, TextField, UUIDField


class CftragConfig(AppConfig):
    name = "cftrag.django"
    label = "cftrag"
    verbose_name = "cftrag"

    def ready(self) -> None:
        from .lookups import Under

        for field in (ForeignKey, IntegerField, TextField, CharField, UUIDField, DecimalField):
            field.register_lookup(Under)
