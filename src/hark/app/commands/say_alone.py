"""`hark say` when no assistant runs: one of its own, for one turn."""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import closing, nullcontext

from hark.app.commands.common import MISTAKE, complain, settings_of, state_of
from hark.app.commands.notices import hold_back_refusals, tell_notices
from hark.app.commands.say import tell_end
from hark.app.household import Household
from hark.app.loading import plugin_files, plugins, wanted_by
from hark.app.screen import Screen
from hark.app.settings import Settings, read_settings
from hark.app.state.directory import Held
from hark.app.state.keeping import State
from hark.model import MalformedMessage, SystemClock
from hark.trace import render


def say_alone(options: argparse.Namespace) -> int:
    """Say something to the device's own session, and remember what comes of it if nobody else has the state."""
    path, named = settings_of(options)
    settings = read_settings(path, named=named)
    if options.lang is not None:
        settings = settings.speaking(options.lang)
    state: State | None = None
    try:
        state = State(state_of(options), SystemClock(), traces=settings.trace.disk)
    except Held as held:
        complain(f"{held}, which does not answer; this turn leaves no trace")
    with closing(state) if state is not None else nullcontext():
        return asyncio.run(_turn(options, settings, state))


async def _turn(options: argparse.Namespace, settings: Settings, state: State | None) -> int:
    screen = Screen(sys.stdout, lambda: None)
    files = plugin_files(settings, settings_of(options)[0])
    loaded = plugins(installed=options.plugins, files=files, wanted=wanted_by(settings))
    household = Household(settings, loaded, SystemClock(), screen.show, state=state)
    hold_back_refusals()
    async with household:
        tell_notices(household.house, settings_of(options)[0])
        try:
            asked = await household.talk.ask(" ".join(options.text), screen.show)
        except MalformedMessage as error:
            complain(f"this cannot be said: {error}")
            return MISTAKE
        trace = household.house.traces.find(asked.utterance_id)
        story = render(trace.record()) if options.why and trace is not None else None
        return tell_end(asked.outcome, asked.detail, asked.utterance_id, options, story)
