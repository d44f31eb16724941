"""Scripts are tests here."""

from hark.testing.scripts import pytest_collect_file

__all__ = ["pytest_collect_file"]
