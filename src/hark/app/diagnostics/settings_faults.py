"""What is wrong with settings that can be read: names that lead nowhere, plugins that refuse theirs, a closed bus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hark.app.diagnostics.advice import advice, unused_entries
from hark.app.runtime import Runtime
from hark.app.settings import Settings
from hark.app.settings.document import Lines
from hark.app.tokens import ServiceToken, TokenFile
from hark.builtin.engines import ENGINES
from hark.errors import UserError
from hark.hosting import Refusal
from hark.plugins.engines import ENGINE_KINDS


def settings_faults(runtime: Runtime, file: Path, state: Path, *, installed: bool) -> Iterator[str]:
    """What the settings in `file`, with which a runtime was started, do not achieve; each with file and line."""
    settings = runtime.settings
    lines = Lines(file.read_text("utf-8-sig") if file.is_file() else "")

    def at(*key: str) -> str:
        line = lines.of(key)
        return f"{file}:{line}" if line is not None else str(file)

    for one in (*advice(runtime), *unused_entries(settings)):
        yield f"{at(*one.key)}: {one.text}"
    for refusal in runtime.refusals:
        if refusal.name in settings.plugins:
            yield f"{at('plugins', refusal.name)}: {refusal}"
        elif any(refusal.name == Path(name).name for name in settings.assistant.files):
            yield f"{at('assistant', 'files')}: {refusal}"
    for kind, refusal in _unknown_engines(settings, installed):
        yield f"{at('voice', kind)}: [voice] {kind}: {refusal.reason}; {refusal.remedy}"
    yield from (f"{at('bus', 'remote_host')}: {fault}" for fault in _bus_faults(settings, state))


def _unknown_engines(settings: Settings, installed: bool) -> Iterator[tuple[str, Refusal]]:
    """Engines that [voice] names, and that are neither Hark's nor those of an installed package."""
    from hark.app.voice.engines import EngineFactory  # only here: most settings name none

    factory = EngineFactory(settings, installed=installed)
    for kind in ENGINE_KINDS:
        others = [
            name
            for name in getattr(settings.voice, kind)
            if (kind, settings.engine.get(name, {}).get("engine", name)) not in ENGINES
        ]
        yield from ((kind, one) for one in factory.of(kind, others) if isinstance(one, Refusal))


def _bus_faults(settings: Settings, state: Path) -> Iterator[str]:
    """Why other machines could not connect to a bus that [bus] opens to them."""
    from hark.app.paths import tokens_file

    table = settings.bus
    if table.remote_host is None:
        return
    try:
        from hark.app.bus_server import endpoints

        endpoints(table, TokenFile(tokens_file(table.tokens, state)), ServiceToken(state))
    except (UserError, ImportError) as error:
        yield str(error)
