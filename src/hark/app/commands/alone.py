"""What commands need that start an assistant of their own, for as long as they run."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from hark.app.commands.common import complain, settings_of, state_of
from hark.app.household import Household
from hark.app.loading import plugin_files, plugins, wanted_by
from hark.app.settings import Settings, read_settings
from hark.app.state.directory import Held
from hark.app.state.keeping import State
from hark.model import SystemClock

if TYPE_CHECKING:  # who deals in text does not pay for it
    from hark.app.voice.engines import VoiceConfig


def settings_for(options: argparse.Namespace) -> Settings:
    """The settings to go by, in the language that was asked for."""
    path, named = settings_of(options)
    settings = read_settings(path, named=named)
    return settings if options.lang is None else settings.speaking(options.lang)


@contextmanager
def own_state(options: argparse.Namespace, settings: Settings) -> Iterator[State | None]:
    """The device's own state, if nobody else has it; else none, and that is said."""
    try:
        state = State(state_of(options), SystemClock(), traces=settings.trace.disk)
    except Held as held:
        complain(f"{held}; this one knows nothing of it, and leaves no trace")
        yield None
        return
    with closing(state):
        yield state


def household_for(
    options: argparse.Namespace,
    settings: Settings,
    state: State | None,
    show: Callable[[str], None],
    aloud: VoiceConfig | None = None,
) -> Household:
    """An assistant with all its plugins, not yet started."""
    files = plugin_files(settings, settings_of(options)[0])
    loaded = plugins(installed=options.plugins, files=files, wanted=wanted_by(settings))
    return Household(settings, loaded, SystemClock(), show, state=state, aloud=aloud)
