"""`mycroft.conf`: JSON in which lines may be comments, in layers, the user's last."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from hark.bridges.opm.catalogue import FoundKind, FoundPlugin

SYSTEM: Final = Path("/etc/mycroft/mycroft.conf")

_SECTIONS: Final[Mapping[FoundKind, str]] = {
    "audio": "audio_transformers",
    "utterance": "utterance_transformers",
    "metadata": "metadata_transformers",
    "intent": "intent_transformers",
    "dialog": "dialog_transformers",
    "tts": "tts_transformers",
}
"""Where a chain of transformers is configured: plugins by name, in the order in which they run."""


class MalformedConfig(ValueError):
    """A `mycroft.conf` that cannot be read; the text says which and why."""


def user_file() -> Path:
    """Where the user's own `mycroft.conf` is, by the rules of OVOS."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "mycroft" / "mycroft.conf"


def read(files: Iterable[Path] | None = None) -> MycroftConf:
    """The layers that exist, merged, the last one first; raises `MalformedConfig`."""
    merged: dict[str, Any] = {}
    used = []
    for file in (SYSTEM, user_file()) if files is None else files:
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            raise MalformedConfig(f"{file} cannot be read: {error}") from None
        try:
            written = _without_comments(text)
            layer = json.loads(written) if written.strip() else {}
        except ValueError as error:
            raise MalformedConfig(f"{file} is no JSON: {error}") from None
        if not isinstance(layer, dict):
            raise MalformedConfig(f"{file} is no JSON object: it begins with {text.lstrip()[:1]!r}")
        merged = _merged(merged, layer)
        used.append(file)
    return MycroftConf(merged, tuple(used))


class MycroftConf:
    """The parts of a configuration that plugins are chosen and configured by."""

    def __init__(self, tree: Mapping[str, Any], files: tuple[Path, ...] = ()) -> None:
        self.tree = tree
        self.files = files

    def section(self, *names: str) -> dict[str, Any]:
        """A table within tables; empty when there is none."""
        table: Any = self.tree
        for name in names:
            table = table.get(name) if isinstance(table, Mapping) else None
        return dict(table) if isinstance(table, Mapping) else {}

    def order(self, kind: FoundKind) -> tuple[str, ...]:
        """The transformers of a chain that are on, in order."""
        section = _SECTIONS.get(kind)
        chain = self._chain(section) if section else {}
        return tuple(
            name for name, table in chain.items() if not (isinstance(table, Mapping) and table.get("active") is False)
        )

    def config(self, plugin: FoundPlugin) -> dict[str, Any]:
        """What it says about one plugin."""
        if plugin.kind in _SECTIONS:
            table = self._chain(_SECTIONS[plugin.kind]).get(plugin.name)
            return dict(table) if isinstance(table, Mapping) else {}
        if plugin.kind in ("stt", "tts_engine"):
            return self.section(plugin.kind.removesuffix("_engine"), plugin.name)
        if plugin.kind == "vad":
            return self.section("listener", "VAD", plugin.name)
        if plugin.kind == "pipeline":
            return self.section("intents", plugin.name) or self.section("intents", plugin.name.replace("-", "_"))
        return {}

    def module(self, kind: str) -> str:
        """The engine that `stt`, `tts` or `vad` names."""
        table = self.section("listener", "VAD") if kind == "vad" else self.section(kind)
        return str(table.get("module") or "")

    def hotwords(self) -> dict[str, dict[str, Any]]:
        """The wake words that are on, by name."""
        return {
            name: dict(table)
            for name, table in self.section("hotwords").items()
            if isinstance(table, Mapping) and table.get("active") is not False
        }

    @property
    def pipeline(self) -> tuple[str, ...]:
        """The entries of the intent pipeline."""
        named = self.section("intents").get("pipeline")
        return tuple(str(one) for one in named) if isinstance(named, list) else ()

    @property
    def denied_skills(self) -> tuple[str, ...]:
        """The skills that are installed and not to be loaded."""
        named = self.section("skills").get("blacklisted_skills")
        return tuple(str(one) for one in named) if isinstance(named, list) else ()

    def _chain(self, section: str) -> dict[str, Any]:
        return self.section(section) or self.section("listener", section)


def _without_comments(text: str) -> str:
    """The same lines, so that the number of one in a complaint is right; those of comments are empty."""
    return "\n".join("" if line.lstrip().startswith(("//", "#")) else line for line in text.splitlines())


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[key] = _merged(old, value) if both else value  # type: ignore[arg-type]
    return result
