"""What commands share that start an assistant: its settings, state and plugins, and a report of what was not loaded."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hark.app.diagnostics.advice import advice
from hark.app.local_assistant import LocalAssistant
from hark.app.plugin_set import plugin_files, plugins, wanted_by
from hark.app.runtime import Runtime
from hark.app.settings import Settings
from hark.app.state.directory import Locked
from hark.app.state.store import State
from hark.app.text import counted
from hark.cli.common import note_language, print_note, settings_path, state_path
from hark.hosting import Refusal
from hark.model import SystemClock

if TYPE_CHECKING:
    from hark.app.voice.engines import VoiceConfig


@contextmanager
def open_state(options: argparse.Namespace, settings: Settings) -> Iterator[State | None]:
    """The state of the device; none, with a note to the user, if another process has it."""
    try:
        state = State.under(settings, state_path(options), SystemClock())
    except Locked as held:
        print_note(f"{held}; this command runs without it and stores nothing")
        yield None
        return
    with closing(state):
        yield state


def make_assistant(
    options: argparse.Namespace,
    settings: Settings,
    state: State | None,
    show: Callable[[str], None] = lambda _text: None,
    voice: VoiceConfig | None = None,
) -> LocalAssistant:
    """An assistant with all its plugins, not yet started."""
    files = plugin_files(settings, settings_path(options)[0])
    loaded = plugins(installed=options.plugins, files=files, wanted=wanted_by(settings))
    return LocalAssistant(settings, loaded, SystemClock(), show, state=state, voice=voice)


def mute_refusal_log() -> None:
    """Keep refused plugins out of the log: `report_problems` lists them together, once all are loaded."""
    logging.getLogger("hark.hosting").addFilter(_is_no_refusal)


def report_problems(runtime: Runtime, settings: Path) -> None:
    """Print which plugins are not loaded and why, and which settings have no effect."""
    refusals = runtime.refusals
    if refusals:
        print_note(f"{counted(len(refusals), 'plugin')} not loaded:")
        print_note("\n".join(f"  {refusal}" for refusal in refusals))
    if any(refusal.name in runtime.settings.plugins for refusal in refusals):
        print_note(f"  the settings of plugins are in {settings}")
    for hint in advice(runtime):
        print_note(f"{settings}: {hint}")
    note_language(runtime.settings.assistant.lang)


def mute_handler_log() -> None:
    """Keep failures of skills out of the log, where a conversation shows them; with -v they are in both."""
    if not logging.getLogger().isEnabledFor(logging.INFO):
        logging.getLogger("hark.act").addFilter(_is_no_handler_failure)


def mute_watchdog_log() -> None:
    """Keep slow turns out of the log, unless -v is given: the first one is slow on a busy machine."""
    if not logging.getLogger().isEnabledFor(logging.INFO):
        logging.getLogger("hark.watchdog").setLevel(logging.CRITICAL)


def _is_no_handler_failure(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("handler %s failed")


def _is_no_refusal(record: logging.LogRecord) -> bool:
    return not (isinstance(record.args, tuple) and record.args and isinstance(record.args[0], Refusal))
