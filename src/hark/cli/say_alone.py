"""`hark say` when no assistant runs: one of its own, for one turn."""

from __future__ import annotations

import argparse
import asyncio
import sys

from hark.app.screen import Screen
from hark.app.settings import Settings
from hark.app.state.keeping import State
from hark.cli.common import USER_ERROR, print_note, settings_path
from hark.cli.say import print_ending
from hark.cli.startup import load_settings, make_assistant, mute_refusal_log, open_state, report_problems
from hark.model import MalformedMessage
from hark.trace import render


def say_alone(options: argparse.Namespace) -> int:
    """Say something to the device's own session, and remember what comes of it if nobody else has the state."""
    settings = load_settings(options)
    with open_state(options, settings) as state:
        return asyncio.run(_turn(options, settings, state))


async def _turn(options: argparse.Namespace, settings: Settings, state: State | None) -> int:
    screen = Screen(sys.stdout, lambda: None)
    mute_refusal_log()
    async with make_assistant(options, settings, state, screen.show) as household:
        report_problems(household.house, settings_path(options)[0])
        try:
            asked = await household.talk.ask(" ".join(options.text), screen.show)
        except MalformedMessage as error:
            print_note(f"this cannot be said: {error}")
            return USER_ERROR
        trace = household.house.traces.find(asked.utterance_id)
        story = render(trace.record()) if options.why and trace is not None else None
        return print_ending(asked.outcome, asked.detail, asked.utterance_id, options, story)
