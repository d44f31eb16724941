"""Conversation scripts in a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hark.app.settings import Settings, settings_from
from hark.plugins import Plugin
from hark.testing.scripts.parser import parse, read_script
from hark.testing.scripts.report import differences
from hark.testing.scripts.runner import play_conversation as play_one
from hark.testing.scripts.setup import Setup

if TYPE_CHECKING:  # its imports cost time that tests of text need not spend
    from hark.testing.scripts.voice import VoiceSetup


async def play(
    script: str | PathLike[str],
    *plugins: Plugin | Callable[[], Plugin],
    settings: Settings | Mapping[str, Any] | None = None,
    aloud: bool | VoiceSetup = False,
) -> None:
    """Play a script, a path or the text itself, on an assistant with these plugins beside those that come with Hark.

    Raises `AssertionError` with the line that does not hold, and `ScriptError` for what cannot be played. A plugin with
    the id of one of Hark's takes its place. It may be given as what makes it, such as its class; an instance serves
    until the next conversation or restart, for which another is made without arguments.

    `aloud` has everything spoken and heard, with the engines of the settings; a `VoiceSetup` given to several calls
    keeps what one of them has loaded.
    """
    if settings is not None and not isinstance(settings, Settings):
        settings = settings_from(settings)
    text = isinstance(script, str) and "\n" in script
    parsed = parse(str(script)) if text else read_script(Path(script))
    setup = Setup(settings, installed=False, added=plugins)
    by = _voice_setup() if aloud is True else aloud or None
    try:
        for conversation in parsed.conversations:
            played = await play_one(parsed, conversation, setup, voice=by)
            if played.difference is not None:
                raise AssertionError(differences(parsed, played.difference))
    finally:
        if aloud is True and by is not None:
            by.close()


def _voice_setup() -> VoiceSetup:
    from hark.testing.scripts.voice import VoiceSetup

    return VoiceSetup()
