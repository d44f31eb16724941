"""Conversation scripts in a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hark.app.script.casting import Cast
from hark.app.script.playing import play as play_one
from hark.app.script.reading import parse, read_script
from hark.app.script.report import differences
from hark.app.settings import Settings, settings_from
from hark.plugins import Plugin

if TYPE_CHECKING:  # who deals in text does not pay for it
    from hark.app.script.aloud.ensemble import Ensemble


async def play(
    script: str | PathLike[str],
    *plugins: Plugin | Callable[[], Plugin],
    settings: Settings | Mapping[str, Any] | None = None,
    aloud: bool | Ensemble = False,
) -> None:
    """Play a script, a path or the text itself, on an assistant with these plugins beside those that come with Hark.

    Raises `AssertionError` with the line that does not hold, and `ScriptError` for what cannot be played. A plugin with
    the id of one of Hark's takes its place. It may be given as what makes it, such as its class; an instance serves
    until the next conversation or restart, for which another is made without arguments.

    `aloud` has everything spoken and heard, with the engines of the settings; an `Ensemble` of several calls keeps what
    one of them has loaded.
    """
    if settings is not None and not isinstance(settings, Settings):
        settings = settings_from(settings)
    text = isinstance(script, str) and "\n" in script
    told = parse(str(script)) if text else read_script(Path(script))
    cast = Cast(settings, installed=False, added=plugins)
    by = _ensemble() if aloud is True else aloud or None
    try:
        for conversation in told.conversations:
            played = await play_one(told, conversation, cast, aloud=by)
            if played.difference is not None:
                raise AssertionError(differences(told, played.difference))
    finally:
        if aloud is True and by is not None:
            by.close()


def _ensemble() -> Ensemble:
    from hark.app.script.aloud.ensemble import Ensemble

    return Ensemble()
