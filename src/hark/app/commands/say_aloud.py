"""`hark say TEXT --to FILE.wav`: the answer as speech, in a file."""

from __future__ import annotations

import argparse
import asyncio
import sys

from hark.app.commands.alone import household_for, own_state, settings_for
from hark.app.commands.common import MISTAKE, complain, settings_of
from hark.app.commands.notices import hold_back_refusals, tell_notices
from hark.app.commands.say import tell_end
from hark.app.screen import Screen
from hark.app.settings import Settings
from hark.app.state.keeping import State
from hark.app.voice.engines import ChosenEngine, EngineFactory, VoiceConfig
from hark.app.voice.sound_files import CollectingPlayer, progress, save
from hark.model import MalformedMessage
from hark.trace import render


def say_aloud(options: argparse.Namespace) -> int:
    """Say something to an assistant of one's own, and keep what it answers."""
    settings = settings_for(options)
    with own_state(options, settings) as state:
        return asyncio.run(_turn(options, settings, state))


async def _turn(options: argparse.Namespace, settings: Settings, state: State | None) -> int:
    kept = CollectingPlayer()
    words = sys.stderr if options.to == "-" else sys.stdout
    screen = Screen(words, lambda: None)
    choice = EngineFactory(settings, installed=options.plugins)
    aloud = VoiceConfig(
        factory=choice, hears=False, instead={"player": [ChosenEngine(kept, {})]}, earcons=False, report=progress()
    )
    hold_back_refusals()
    async with household_for(options, settings, state, screen.show, aloud) as household:
        tell_notices(household.house, settings_of(options)[0])
        try:
            asked = await household.talk.ask(" ".join(options.text), screen.show)
        except MalformedMessage as error:
            complain(f"this cannot be said: {error}")
            return MISTAKE
        answer = kept.whole()
        if answer is not None:
            save(answer, options.to)
        else:
            complain(f"nothing was said aloud, so {options.to} was not written")
        trace = household.house.traces.find(asked.utterance_id)
        story = render(trace.record()) if options.why and trace is not None else None
        return tell_end(asked.outcome, asked.detail, asked.utterance_id, options, story)
