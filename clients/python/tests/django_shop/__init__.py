"""An app for test_django.py."""
