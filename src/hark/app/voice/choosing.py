"""From the names in [voice] to engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, Final

import msgspec

from hark.app.settings import Settings
from hark.hosting import Refusal
from hark.hosting.discovery import installed_entry_points, load
from hark.plugins.engines import Engine, EngineKind, WakeWord

_USUAL: Final = WakeWord("jarvis", "hey jarvis")
"""What wakes an assistant nobody gave another phrase."""


class Chosen(msgspec.Struct, frozen=True):
    """An engine that is wanted, and what it is told."""

    engine: Engine
    settings: dict[str, Any]


class Choice:
    """Makes the engines that the settings name. What is not there comes back as a `Refusal`, in its place."""

    def __init__(self, settings: Settings, *, installed: bool) -> None:
        self._settings = settings
        self._installed = installed

    def of(self, kind: EngineKind, names: Iterable[str] | None = None) -> Iterator[Chosen | Refusal]:
        """The engines of one kind in the order of [voice], or those of these names."""
        for name in getattr(self._settings.voice, kind) if names is None else names:
            table = dict(self._settings.engine.get(name, {}))
            engine_id = table.pop("engine", name)
            made = self._made(kind, engine_id)
            if isinstance(made, Refusal):
                yield made
                continue
            made.id = name  # type: ignore[misc]  # one class may be here under several names
            yield Chosen(made, table)

    def wake_words(self) -> list[WakeWord]:
        """The phrases that open the ears."""
        return [
            WakeWord(name, one.phrase, one.model or "", one.lang, one.persona, one.threshold)
            for name, one in self._settings.wake.items()
        ] or [_USUAL]

    def _made(self, kind: EngineKind, engine_id: str) -> Engine | Refusal:
        from hark.builtin.engines import ENGINES  # only here: who does not speak aloud does not pay for it

        place = ENGINES.get((kind, engine_id))
        if place is not None:
            module, _, name = place.partition(":")
            return getattr(import_module(module), name)()  # type: ignore[no-any-return]
        group = f"hark.engine.{kind}"
        for offer in installed_entry_points((group,)) if self._installed else ():
            if isinstance(offer, Refusal):
                return offer
            if offer.name == engine_id:
                made = load(offer)
                return made if isinstance(made, Engine | Refusal) else _no_engine(kind, engine_id)
        known = ", ".join(sorted(one for of, one in ENGINES if of == kind))
        return _no_engine(kind, engine_id, f"[voice] {kind} can name: {known}; others can be installed")


def _no_engine(kind: EngineKind, engine_id: str, remedy: str = "") -> Refusal:
    return Refusal(f"{kind} engine", engine_id, f"there is no {kind} engine {engine_id!r}", remedy)
