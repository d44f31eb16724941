"""`hark say` when no assistant runs: one is started for one turn, and its answer is printed or written as speech."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from hark import hints
from hark.app.settings import Settings
from hark.app.state.store import State
from hark.cli.common import USER_ERROR, load_settings, print_note, settings_path
from hark.cli.say import print_ending, words_of
from hark.cli.startup import (
    make_assistant,
    mute_handler_log,
    mute_refusal_log,
    mute_watchdog_log,
    open_state,
    report_problems,
)
from hark.cli.terminal import Screen
from hark.model import MalformedMessage
from hark.spec import DEFAULT_SESSION_ID
from hark.trace import render

if TYPE_CHECKING:
    from hark.app.voice.engines import VoiceConfig
    from hark.app.voice.sound_files import CollectingPlayer
    from hark.plugins.engines import EngineKind


def say_alone(options: argparse.Namespace) -> int:
    """Say something in the session of the device; its state is kept, unless another process has it."""
    settings = load_settings(options)
    with open_state(options, settings) as state:
        return asyncio.run(_turn(options, settings, state))


async def _turn(options: argparse.Namespace, settings: Settings, state: State | None) -> int:
    screen = Screen(sys.stderr if options.to == "-" else sys.stdout, lambda: None)
    recorder, voice = (None, None) if options.to is None else _voice(options, settings)
    mute_refusal_log()
    mute_handler_log()
    mute_watchdog_log()
    async with make_assistant(options, settings, state, screen.show, voice) as assistant:
        report_problems(assistant.runtime, settings_path(options)[0])
        try:
            text, intent = words_of(options)
            name = DEFAULT_SESSION_ID if options.session is None else f"{assistant.session_prefix}-{options.session}"
            scheduled = {one.id for one in assistant.runtime.scheduler}
            asked = await assistant.client.ask(text, screen.show, session_id=name, intent=intent)
        except MalformedMessage as error:
            print_note(f"this cannot be said: {error}")
            return USER_ERROR
        if recorder is not None:
            _save(recorder, options.to)
        if any(one.id not in scheduled for one in assistant.runtime.scheduler):
            print_note(f"no assistant is running: this rings while one does ({hints.hark('run')})")
        trace = assistant.runtime.traces.find(asked.utterance_id)
        story = render(trace.record()) if options.why and trace is not None else None
        return print_ending(
            asked.outcome, asked.detail, asked.utterance_id, options, story, answered=bool(asked.spoken)
        )


def _voice(options: argparse.Namespace, settings: Settings) -> tuple[CollectingPlayer, VoiceConfig]:
    """Something that records what is spoken, and engines that speak to it."""
    # Only here: answers in text do not load the voice packages.
    from hark.app.voice.engines import ChosenEngine, EngineFactory, VoiceConfig
    from hark.app.voice.sound_files import CollectingPlayer, progress

    recorder = CollectingPlayer()
    choice = EngineFactory(settings, installed=options.plugins)
    instead: dict[EngineKind, list[ChosenEngine]] = {"player": [ChosenEngine(recorder, {})]}
    return recorder, VoiceConfig(factory=choice, hears=False, instead=instead, earcons=False, report=progress())


def _save(recorder: CollectingPlayer, file: str) -> None:
    from hark.app.voice.sound_files import save

    answer = recorder.whole()
    if answer is None:
        print_note(f"nothing was spoken, so {file} was not written")
    else:
        save(answer, file)
