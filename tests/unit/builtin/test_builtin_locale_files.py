"""The locale files that come with Hark are in order: no errors, and no warnings either."""

from __future__ import annotations

from pathlib import Path

import pytest

import hark
from hark.tools.lint import check

SOURCE = Path(hark.__file__).parent


@pytest.mark.parametrize("package", ["builtin", "intents"])
def test_hark_lint_strict_finds_nothing(package: str) -> None:
    report = check([SOURCE / package])
    assert report.files > 0
    assert [f"{one.path}:{one.line}: {one.code.value} {one.message}" for one in report.findings] == []
