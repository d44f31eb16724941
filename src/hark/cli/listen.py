"""`hark listen`: a recording in, what is answered out, as text and as speech."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from hark.app.screen import Screen
from hark.app.settings import Settings
from hark.app.state.keeping import State
from hark.app.voice.engines import ChosenEngine, EngineFactory, VoiceConfig
from hark.app.voice.follower import VoiceFollower
from hark.app.voice.sound_files import CollectingPlayer, RecordedMicrophone, progress, save
from hark.app.words import lines_of, one_line, remark, why_command
from hark.cli.common import FAILED, OK, print_note, settings_path
from hark.cli.startup import load_settings, make_assistant, mute_refusal_log, open_state, report_problems
from hark.errors import UserError
from hark.model import Audio
from hark.model.wav import MalformedWav, read_wav
from hark.plugins.engines import EngineKind
from hark.trace import render


def listen(options: argparse.Namespace) -> int:
    """Listen to a recording and answer it."""
    audio = _recording(options.file)
    settings = load_settings(options)
    with open_state(options, settings) as state:
        return asyncio.run(_answer(options, settings, state, audio))


async def _answer(options: argparse.Namespace, settings: Settings, state: State | None, audio: Audio) -> int:
    recorded, kept = RecordedMicrophone(audio), CollectingPlayer()
    instead: dict[EngineKind, list[ChosenEngine]] = {
        "microphone": [ChosenEngine(recorded, {})],
        "player": [ChosenEngine(kept, {})],
    }
    if not options.wake:
        instead["wakeword"] = []
    plan = VoiceConfig(
        factory=EngineFactory(settings, installed=options.plugins),
        speaks=not options.text,
        instead=instead,
        earcons=False,
        report=progress(),
    )
    usual = plan.hear_options(settings)
    changes: dict[str, object] = {"in_step": True, "no_speech": max(usual.no_speech, audio.seconds)}
    if not options.wake:
        changes |= {"opens_by": "speech", "wake_words": ()}
    aloud = plan.listening(usual, **changes)
    words = sys.stderr if options.to == "-" else sys.stdout
    screen = Screen(words, lambda: None)
    mute_refusal_log()
    async with make_assistant(options, settings, state, screen.show, aloud) as household:
        house = household.house
        report_problems(house, settings_path(options)[0])
        following = VoiceFollower(house.bus)
        recorded.go.set()
        await house.listener.finished()
        await following.quiet()
        for text in following.heard:
            print_note(f'heard "{one_line(text)}"')
        if not options.text:
            _keep(kept, options)
        if options.why:
            trace = house.traces.find(following.utterance_id)
            print(lines_of(render(trace.record())) if trace is not None else "(there was no turn)", file=words)
    return _end(options, following)


def _end(options: argparse.Namespace, following: VoiceFollower) -> int:
    if not following.heard:
        print_note("nothing was understood" if following.not_understood else "there is no speech in this recording")
        return FAILED
    told = remark(following.outcome, following.detail, why_command(following.utterance_id, options.state))
    if told is not None:
        print_note(told)
    return OK if following.outcome == "complete" else FAILED


def _keep(kept: CollectingPlayer, options: argparse.Namespace) -> None:
    answer = kept.whole()
    if answer is None:
        return
    if options.to is not None:
        save(answer, options.to)
    else:
        beside = Path("answer.wav") if options.file == "-" else Path(options.file).with_suffix(".answer.wav")
        save(answer, str(beside))
        print_note(f"the spoken answer is in {beside}")


def _recording(name: str) -> Audio:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UserError(f"{name}: it cannot be read: {error.strerror}") from None
    try:
        return read_wav(data)
    except MalformedWav as error:
        remedy = "convert it first: ffmpeg -i RECORDING -ar 16000 -ac 1 question.wav"
        raise UserError(f"{name}: this is no WAV file that can be read: {error}; {remedy}") from None
