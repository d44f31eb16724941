"""`hark listen`: answer a recording, as text and as speech."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Final

from hark.app.runtime import makes_remarks
from hark.app.settings import Settings
from hark.app.state.store import State
from hark.app.text import lines_of, one_line, remark, why_command
from hark.app.voice.engines import ChosenEngine, EngineFactory, VoiceConfig
from hark.app.voice.follower import VoiceFollower
from hark.app.voice.sound_files import CollectingPlayer, RecordedMicrophone, progress, save
from hark.cli.common import FAILED, OK, load_settings, print_note, settings_path
from hark.cli.options import add_lang, add_settings, add_state
from hark.cli.startup import make_assistant, mute_refusal_log, open_state, report_problems
from hark.cli.terminal import Screen
from hark.errors import UserError
from hark.model import Audio
from hark.model.files import read_file
from hark.model.wav import MalformedWav, read_wav
from hark.plugins.engines import EngineKind
from hark.trace import render

ABOUT: Final = """\
Treats a recording as something a user said: recognises it, answers, and writes the spoken answer to a WAV file.
All speech counts, without a wake word, unless --wake is given. The exit status is 0 when it was answered, 1 when it
was not, 2 when something has to be corrected first.

examples:
  hark listen question.wav                     the answer is in question.answer.wav
  hark listen question.wav --to answer.wav --why
  arecord -f S16_LE -r 16000 -d 4 -t wav | hark listen - --to answer.wav
"""
_LARGEST: Final = 2**30
"""Bytes of a recording: an hour of the finest kind."""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="a WAV file; - reads one from standard input")
    command.add_argument("--to", metavar="FILE", help="where to write the spoken answer; - is standard output")
    command.add_argument("--text", action="store_true", help="print the answer and do not speak it")
    command.add_argument("--wake", action="store_true", help="listen only after a wake word")
    command.add_argument("--why", action="store_true", help="also print every step on the way to the answer")
    add_settings(command)
    add_state(command)
    add_lang(command)


def listen(options: argparse.Namespace) -> int:
    if options.text and options.to is not None:
        raise UserError("--to names the file of the spoken answer; --text makes none")
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
    async with make_assistant(options, settings, state, screen.show, aloud) as assistant:
        runtime = assistant.runtime
        report_problems(runtime, settings_path(options)[0])
        following = VoiceFollower(
            runtime.bus,
            remarks=makes_remarks(runtime),
            on_heard=lambda text: print_note(f'heard "{one_line(text)}"'),
        )
        recorded.go.set()
        await runtime.listener.finished()
        await following.quiet()
        if not options.text:
            _keep(kept, options)
        if options.why:
            trace = runtime.traces.find(following.utterance_id)
            print(lines_of(render(trace.record())) if trace is not None else "(there was no turn)", file=words)
    return _end(options, following)


def _end(options: argparse.Namespace, following: VoiceFollower) -> int:
    if not following.heard:
        print_note("nothing was understood" if following.not_understood else "there is no speech in this recording")
        return FAILED
    ending = remark(
        following.outcome,
        following.detail,
        why_command(following.utterance_id, options.state),
        answered=following.answered,
    )
    if ending is not None:
        print_note(ending)
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
    shown = "standard input" if name == "-" else name
    try:
        data = sys.stdin.buffer.read() if name == "-" else read_file(Path(name), _LARGEST)
    except OSError as error:
        raise UserError(f"{shown} cannot be read: {error.strerror}") from None
    if not data:
        raise UserError(f"{shown} is empty")
    try:
        return read_wav(data)
    except MalformedWav as error:
        remedy = "convert it first: ffmpeg -i RECORDING -ar 16000 -ac 1 question.wav"
        raise UserError(f"{shown} is not a WAV file that Hark can read: {error}; {remedy}") from None
