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
from hark.testing.scripts.setup import Make, Setup

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
                raise UserError(f"{path}: there is no script in it; scripts end in {SUFFIX}, see docs/scripts.md")
            found |= dict.fromkeys(below)
        elif path.exists():
            found[path] = None
        else:
            raise UserError(f"{path}: there is no such file; name scripts, or folders with scripts")
    return list(found)


async def play_conversation(
    script: Script,
    conversation: Conversation,
    cast: Setup,
    tell: Callable[[str], None] = lambda _text: None,
    aloud: VoiceSetup | None = None,
) -> PlayedConversation:
    """How a conversation goes, as text or `aloud`; raises `UserError` when it cannot be played.

    What else is to be known goes to `tell`.
    """
    began = perf_counter()
    settings, plugins = cast.of(script, conversation)
    head = conversation.head
    wall = head.now.replace(tzinfo=ZoneInfo(head.timezone)).timestamp()
    difference = None
    with TemporaryDirectory(prefix="hark-script-") as folder:
        async with _stage(settings, plugins, Path(folder), wall, head.timezone, aloud) as stage:
            refusals = [str(refusal) for refusal in stage.house.refusals]
            if refusals and not cast.may_lack(conversation):
                mistakes = [ScriptMistake(conversation.line, refusal, "mend it first") for refusal in refusals]
                raise ScriptError(script.where, mistakes)
            for refusal in refusals:
                tell(refusal)
            try:
                await ScriptPlayer(conversation, stage).play()
            except ConversationDiffers as differs:
                difference = differs.difference
    return PlayedConversation(script.where, conversation.name, perf_counter() - began, difference)


def _stage(
    settings: Settings, plugins: Make, folder: Path, wall: float, zone: str, aloud: VoiceSetup | None
) -> ScriptAssistant:
    if aloud is None:
        return ScriptAssistant(settings, plugins, folder, wall, zone)
    from hark.testing.scripts.voice_assistant import (
        VoiceScriptAssistant,  # only here: who deals in text does not pay for it
    )

    return VoiceScriptAssistant(settings, plugins, folder, wall, zone, aloud)


class ScriptRunner:
    """Plays what paths stand for. What is wrong with scripts or plugins goes to `tell`, each thing once."""

    def __init__(self, cast: Setup, tell: Callable[[str], None], aloud: VoiceSetup | None = None) -> None:
        self._cast = cast
        self._tell = tell
        self._aloud = aloud
        self._told: set[str] = set()
        self.stumbled = False
        """Whether there was a script that could not be played."""

    def play_conversation(self, paths: Iterable[Path], name: str = "") -> Iterator[tuple[Script, PlayedConversation]]:
        """Every conversation with `name` in its path or title, as it ends; raises `UserError` for no scripts."""
        for script, conversation in self._conversations(scripts_in(paths), name.lower()):
            try:
                yield script, asyncio.run(play_conversation(script, conversation, self._cast, self._once, self._aloud))
            except UserError as error:
                self._stumble(error)

    def _conversations(self, files: Iterable[Path], name: str) -> Iterator[tuple[Script, Conversation]]:
        for file in files:
            try:
                script = read_script(file)
            except UserError as error:
                self._stumble(error)
                continue
            for conversation in script.conversations:
                if name in f"{file}: {conversation.name}".lower():
                    yield script, conversation

    def _stumble(self, error: UserError) -> None:
        self.stumbled = True
        self._once(str(error))

    def _once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(text)
