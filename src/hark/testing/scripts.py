"""Conversation scripts as tests of pytest, for those who ask for it.

`pytest_plugins = ["hark.testing.scripts"]` in the `conftest.py` at the top collects every `*.talk` file; for one
folder, import `pytest_collect_file` from here in its `conftest.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hark.app.script.casting import Cast
from hark.app.script.finding import SUFFIX
from hark.app.script.mistakes import ScriptError
from hark.app.script.playing import play
from hark.app.script.reading import read_script
from hark.app.script.report import differences
from hark.app.script.script import Conversation, Script
from hark.app.trouble import Trouble


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A `*.talk` file is a script."""
    if file_path.suffix != SUFFIX:
        return None
    collected: pytest.Collector = ScriptFile.from_parent(parent, path=file_path)
    return collected


class ScriptFile(pytest.File):
    """A script, with a test for each conversation in it."""

    def collect(self) -> Iterator[pytest.Item]:
        """Read the script; what is wrong with it fails the collection, with line and remedy."""
        try:
            script = read_script(self.path)
        except ScriptError as error:
            raise self.CollectError(str(error)) from None
        for conversation in script.conversations:
            name = conversation.name or self.path.stem
            yield ScriptItem.from_parent(self, name=name, script=script, conversation=conversation)


class ScriptItem(pytest.Item):
    """A conversation, played on what comes with Hark and what is installed or named; your own settings are not read."""

    def __init__(self, *, script: Script, conversation: Conversation, **rest: Any) -> None:
        super().__init__(**rest)
        self._script = script
        self._conversation = conversation

    def runtest(self) -> None:
        """Play it."""
        played = asyncio.run(play(self._script, self._conversation, Cast()))
        if played.difference is not None:
            raise AssertionError(differences(self._script, played.difference))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What differs, without the way there through our code."""
        if isinstance(excinfo.value, (AssertionError, Trouble)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the conversation begins."""
        return self.path, self._conversation.line - 1, f"{self.path.name}: {self.name}"
