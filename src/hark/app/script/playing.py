"""Playing whole scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from zoneinfo import ZoneInfo

from hark.app.script.casting import Cast
from hark.app.script.mistakes import Mistake, ScriptError
from hark.app.script.outcome import Differs, Played
from hark.app.script.player import Player
from hark.app.script.script import Conversation, Script
from hark.app.script.stage import Stage


async def play(
    script: Script, conversation: Conversation, cast: Cast, tell: Callable[[str], None] = lambda _text: None
) -> Played:
    """How a conversation goes; raises `Trouble` when it cannot be played. What else is to be known goes to `tell`."""
    began = perf_counter()
    settings, plugins = cast.of(script, conversation)
    head = conversation.head
    wall = head.now.replace(tzinfo=ZoneInfo(head.timezone)).timestamp()
    difference = None
    with TemporaryDirectory(prefix="hark-script-") as folder:
        async with Stage(settings, plugins, Path(folder), wall, head.timezone) as stage:
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
