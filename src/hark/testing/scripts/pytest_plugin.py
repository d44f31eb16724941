"""Conversation scripts as tests of pytest."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hark.errors import UserError
from hark.testing.scripts.errors import ScriptError
from hark.testing.scripts.parser import read_script
from hark.testing.scripts.report import differences
from hark.testing.scripts.runner import SUFFIX, play_conversation
from hark.testing.scripts.script import Conversation, Script
from hark.testing.scripts.setup import Setup


def collect(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The script in a `*.talk` file; None for any other file."""
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
        played = asyncio.run(play_conversation(self._script, self._conversation, Setup()))
        if played.difference is not None:
            raise AssertionError(differences(self._script, played.difference))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What differs, without the way there through our code."""
        if isinstance(excinfo.value, (AssertionError, UserError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the conversation begins."""
        return self.path, self._conversation.line - 1, f"{self.path.name}: {self.name}"
