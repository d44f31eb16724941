"""Playing whole scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from hark.app.script.casting import Cast, Make
from hark.app.script.mistakes import Mistake, ScriptError
from hark.app.script.outcome import Differs, Played
from hark.app.script.player import Player
from hark.app.script.script import Conversation, Script
from hark.app.script.stage import Stage
from hark.app.settings import Settings

if TYPE_CHECKING:
    from hark.app.script.aloud.ensemble import Ensemble


async def play(
    script: Script,
    conversation: Conversation,
    cast: Cast,
    tell: Callable[[str], None] = lambda _text: None,
    aloud: Ensemble | None = None,
) -> Played:
    """How a conversation goes, as text or `aloud`; raises `Trouble` when it cannot be played.

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
                mistakes = [Mistake(conversation.line, refusal, "mend it first") for refusal in refusals]
                raise ScriptError(script.where, mistakes)
            for refusal in refusals:
                tell(refusal)
            try:
                await Player(conversation, stage).play()
            except Differs as differs:
                difference = differs.difference
    return Played(script.where, conversation.name, perf_counter() - began, difference)


def _stage(settings: Settings, plugins: Make, folder: Path, wall: float, zone: str, aloud: Ensemble | None) -> Stage:
    if aloud is None:
        return Stage(settings, plugins, folder, wall, zone)
    from hark.app.script.aloud.stage import AloudStage  # only here: who deals in text does not pay for it

    return AloudStage(settings, plugins, folder, wall, zone, aloud)
