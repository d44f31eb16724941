"""`hark run` in one process: an assistant, and a conversation with it in the terminal or over standard input."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hark import __version__, hints
from hark.app.control.server import listening
from hark.app.local_assistant import LocalAssistant
from hark.app.local_server import LocalServer
from hark.app.plugin_set import plugin_files, plugins, wanted_by
from hark.app.runtime import Runtime
from hark.app.settings import Settings
from hark.app.signals import on_stop_signal
from hark.app.state.directory import Locked, StateError
from hark.app.state.store import State
from hark.app.text import counted
from hark.cli.common import OK, load_settings, print_note, settings_path, state_path
from hark.cli.conversation import TerminalConversation
from hark.cli.startup import mute_handler_log, mute_refusal_log, report_problems
from hark.cli.terminal import DescriptorReader, LineReader, Screen, Terminal, wrapped
from hark.hosting import Refusal
from hark.model import Clock, SystemClock
from hark.plugins import Plugin

if TYPE_CHECKING:
    from hark.app.voice.terminal import VoiceTerminal


def run_local(options: argparse.Namespace, settings: Settings) -> int:
    """Run an assistant until the input ends or a signal stops it."""
    try:
        state = State.under(settings, state_path(options), SystemClock())
    except Locked as held:
        raise StateError(
            f"{held}; talk to that one with: {hints.hark('say')}, or choose another with --state"
        ) from None
    with closing(state), suppress(asyncio.CancelledError):
        asyncio.run(_live(options, settings, state))
    return OK


async def _live(options: argparse.Namespace, settings: Settings, state: State) -> None:
    stop = asyncio.Event()
    starting = asyncio.current_task()

    def stop_now() -> None:
        stop.set()
        if starting is not None:  # nothing to be ended in good order yet
            starting.cancel()

    on_stop_signal(stop_now)
    with Terminal(sys.stdin, sys.stdout) as terminal, listening(state.directory) as control_socket:
        screen = Screen(sys.stdout, stop.set, prompts=terminal.is_interactive)
        mute_refusal_log()
        if not options.stay:
            mute_handler_log()
        clock = SystemClock()
        path = settings_path(options)[0]
        loaded, development = _loading(options, settings, screen.show if terminal.is_interactive else print_note)
        attending = _attending(settings, options)
        assistant = LocalAssistant(
            settings,
            loaded,
            clock,
            screen.show if attending is None else attending.show,
            state=state,
            control_socket=control_socket,
            server=LocalServer(settings.bus, state.directory, clock, print_note, settings.assistant.lang),
            settings_file=str(path),
            voice=None if attending is None else attending.config,
        )
        async with assistant, development(assistant.runtime), _ovos_skills(settings, state.directory, clock):
            starting = None
            report_problems(assistant.runtime, path)
            if attending is not None:
                await attending.run(assistant.runtime, stop)
                return
            if options.stay and not terminal.is_interactive:
                print_note("ready; a signal stops it")
            if terminal.is_interactive:
                _greet(assistant.runtime, settings)
            reader = LineReader(terminal.read if terminal.is_interactive else DescriptorReader(sys.stdin.fileno()))
            conversation = TerminalConversation(assistant.client, clock, reader, screen, options.state)
            await conversation.run(stop, patient=not terminal.is_interactive)
            if options.stay:
                await stop.wait()


@asynccontextmanager
async def _ovos_skills(settings: Settings, state: Path, clock: Clock) -> AsyncIterator[None]:
    """Skills of OVOS that `hark skills` installed, in processes of their own, while the assistant runs."""
    if not (settings.bus.serve and (state / "skills" / "packages.json").exists()):
        yield
        return
    # Only here: an assistant without such skills does not pay for it.
    from hark.app.processes.skill_processes import SkillProcesses
    from hark.app.skill_packages import SkillPackages

    processes = SkillProcesses(SkillPackages(state), settings.bus, clock)
    processes.start()
    try:
        yield
    finally:
        await processes.stop()


def _attending(settings: Settings, options: argparse.Namespace) -> VoiceTerminal | None:
    if not options.voice:
        return None
    from hark.app.voice.terminal import VoiceTerminal  # only here: who deals in text does not pay for it

    return VoiceTerminal(settings, sys.stdout, installed=options.plugins)


def _loading(
    options: argparse.Namespace, settings: Settings, report: Callable[[str], None]
) -> tuple[Iterable[Plugin | Refusal], Callable[[Runtime], AbstractAsyncContextManager[object]]]:
    """The plugins, and what follows their files while the assistant runs."""
    path = settings_path(options)[0]
    files = plugin_files(settings, path)
    if not options.dev:
        loaded = plugins(installed=options.plugins, files=files, wanted=wanted_by(settings))
        return loaded, lambda _runtime: nullcontext()
    # Only here: the imports cost time at every other start.
    from hark.app.reload.mode import DevMode
    from hark.app.reload.reload_group import plugin_sources, plugins_from
    from hark.app.reload.watch import FileWatcher

    found = list(plugin_sources(installed=options.plugins, files=files, wanted=wanted_by(settings)))
    edits = FileWatcher(found, path)
    return plugins_from(found), lambda runtime: DevMode(runtime, edits, lambda: load_settings(options), report)


def _greet(runtime: Runtime, settings: Settings) -> None:
    transformers = sum(map(len, runtime.transformers.values()))
    counts = {"skill": len(runtime.skills), "matcher": len(runtime.pipeline), "transformer": transformers}
    loaded = ", ".join(counted(number, what) for what, number in counts.items())
    greeting = f'Hark {__version__}, {settings.assistant.lang}: {loaded}. "help" gives examples; Ctrl-D leaves.'
    print(wrapped(greeting, sys.stderr), file=sys.stderr)
