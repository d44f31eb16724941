"""`hark devices`: the microphones and loudspeakers of this machine."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from hark.app.text import one_line
from hark.app.voice.engines import ChosenEngine, EngineFactory
from hark.cli.common import FAILED, OK, load_settings, print_json
from hark.cli.options import add_format, add_lang, add_settings
from hark.hosting import Loaded, Refusal, Runner
from hark.model import SystemClock
from hark.plugins.engines import EngineKind, Microphone, Player

ABOUT: Final = """\
Lists the microphones and loudspeakers that the engines of [voice] find on this machine, and what prevents them from
finding any. The exit status is 1 when there is no microphone, or no loudspeaker.

example:
  hark devices
"""
_WHAT: Final[dict[EngineKind, str]] = {"microphone": "microphones", "player": "loudspeakers"}


def add_options(command: argparse.ArgumentParser) -> None:
    add_settings(command)
    add_lang(command)
    add_format(command)


def devices(options: argparse.Namespace) -> int:
    choice = EngineFactory(load_settings(options), installed=options.plugins)
    runner = Runner(SystemClock())
    found = {what: [line for one in choice.of(kind) for line in _found(one, runner)] for kind, what in _WHAT.items()}
    if options.format == "json":
        texts = {what: [line for line, is_device in lines if is_device] for what, lines in found.items()}
        problems = dict.fromkeys(line for lines in found.values() for line, is_device in lines if not is_device)
        print_json({**texts, "problems": [*problems]})
    else:
        for what, lines in found.items():
            print(f"{what}:")
            print("\n".join(f"  {line}" for line, _ in lines) or "  [voice] names no engine for it")
    return OK if all(any(is_device for _, is_device in lines) for lines in found.values()) else FAILED


def _found(one: ChosenEngine | Refusal, runner: Runner) -> Iterator[tuple[str, bool]]:
    """Lines to print for an engine, each with whether it is a device."""
    if isinstance(one, Refusal):
        yield f"{one.name}: {one.reason}; {one.remedy}", False
        return
    engine = one.engine
    if not isinstance(engine, Microphone | Player):
        return
    devices = runner.attempt(Loaded(engine, engine.devices))
    if (missing := devices.unavailable) is not None:
        yield f"{engine.id}: {missing}" + (f"; remedy: {missing.remedy}" if missing.remedy else ""), False
    elif devices.error is not None:
        yield f"{engine.id}: {devices.failure}", False
    elif not devices.value:
        yield f"{engine.id}: no device", False
    else:
        for name in devices.value:
            yield f"{engine.id}: {one_line(str(name))}", True
