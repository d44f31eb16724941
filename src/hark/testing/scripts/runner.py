"""Find scripts and play their conversations, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from hark.app.settings import Settings
from hark.errors import UserError
from hark.testing.scripts.assistant import ScriptAssistant
from hark.testing.scripts.errors import ScriptError, ScriptMistake
from hark.testing.scripts.parser import read_script
from hark.testing.scripts.player import ScriptPlayer
from hark.testing.scripts.report import ConversationDiffers, PlayedConversation
from hark.testing.scripts.script import Conversation, Script
from hark.testing.scripts.setup import PluginsFactory, Setup

if TYPE_CHECKING:
    from hark.testing.scripts.voice import VoiceSetup


SUFFIX: Final = ".talk"


def scripts_in(paths: Iterable[Path]) -> list[Path]:
    """The files, and the scripts in and below the folders; raises `UserError` when there is none."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            below = sorted(path.rglob(f"*{SUFFIX}"))
            if not below:
                raise UserError(f"{path}: it contains no script; scripts end in {SUFFIX}, see docs/scripts.md")
            found |= dict.fromkeys(below)
        elif path.exists():
            found[path] = None
        else:
            raise UserError(f"{path}: there is no such file; name scripts, or folders with scripts")
    return list(found)


async def play_conversation(
    script: Script,
    conversation: Conversation,
    setup: Setup,
    report: Callable[[str], None] = lambda _text: None,
    voice: VoiceSetup | None = None,
) -> PlayedConversation:
    """Play a conversation as text, or with `voice` spoken; raises `UserError` when it cannot be played.

    Plugins that are not loaded are reported to `report`.
    """
    began = perf_counter()
    settings, plugins = setup.of(script, conversation)
    head = conversation.head
    wall = head.now.replace(tzinfo=ZoneInfo(head.timezone)).timestamp()
    difference = None
    with TemporaryDirectory(prefix="hark-script-") as folder:
        async with _make_assistant(settings, plugins, Path(folder), wall, head.timezone, voice) as assistant:
            refusals = [str(refusal) for refusal in assistant.runtime.refusals]
            if refusals and not setup.may_lack(conversation):
                mistakes = [ScriptMistake(conversation.line, refusal, "fix it first") for refusal in refusals]
                raise ScriptError(script.where, mistakes)
            for refusal in refusals:
                report(refusal)
            try:
                await ScriptPlayer(conversation, assistant).play()
            except ConversationDiffers as differs:
                difference = differs.difference
    return PlayedConversation(script.where, conversation.name, perf_counter() - began, difference)


def _make_assistant(
    settings: Settings, plugins: PluginsFactory, folder: Path, wall: float, zone: str, voice: VoiceSetup | None
) -> ScriptAssistant:
    if voice is None:
        return ScriptAssistant(settings, plugins, folder, wall, zone)
    from hark.testing.scripts.voice_assistant import (
        VoiceScriptAssistant,  # only here: written conversations do not load the voice packages
    )

    return VoiceScriptAssistant(settings, plugins, folder, wall, zone, voice)


class ScriptRunner:
    """Plays the scripts of files and folders. Problems of scripts and plugins are reported to `report`, each once."""

    def __init__(self, setup: Setup, report: Callable[[str], None], voice: VoiceSetup | None = None) -> None:
        self._setup = setup
        self._report = report
        self._voice = voice
        self._reported: set[str] = set()
        self.has_errors = False
        """Whether there was a script that could not be played."""

    def play(self, paths: Iterable[Path], name: str = "") -> Iterator[tuple[Script, PlayedConversation]]:
        """Every conversation with `name` in its path or title, as it ends; raises `UserError` for no scripts."""
        for script, conversation in self._conversations(scripts_in(paths), name.lower()):
            try:
                yield script, asyncio.run(play_conversation(script, conversation, self._setup, self._once, self._voice))
            except UserError as error:
                self._report_error(error)

    def _conversations(self, files: Iterable[Path], name: str) -> Iterator[tuple[Script, Conversation]]:
        for file in files:
            try:
                script = read_script(file)
            except UserError as error:
                self._report_error(error)
                continue
            for conversation in script.conversations:
                if name in f"{file}: {conversation.name}".lower():
                    yield script, conversation

    def _report_error(self, error: UserError) -> None:
        self.has_errors = True
        self._once(str(error))

    def _once(self, text: str) -> None:
        if text not in self._reported:
            self._reported.add(text)
            self._report(text)
