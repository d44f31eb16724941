"""`mycroft.conf`: JSON in which lines may be comments, in layers, the user's last."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from hark.bridges.opm.catalogue import FoundKind, FoundPlugin

_DISTRIBUTION: Final = Path("/usr/share")
_SYSTEM: Final = Path("/etc")
_WAKE_WORD: Final = "hey_mycroft"
"""The wake word of an installation that names none."""

T = TypeVar("T")

_JSON: Final[Mapping[Any, str]] = {dict: "object", list: "list", str: "text", float: "number", int: "whole number"}

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


def config_files() -> tuple[Path, ...]:
    """Where OVOS looks for its configuration, the files that count most last; not all of them exist."""
    folder = os.environ.get("OVOS_CONFIG_BASE_FOLDER") or "mycroft"
    name = os.environ.get("OVOS_CONFIG_FILENAME") or "mycroft.conf"
    shared = (os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")
    user = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / folder
    return (
        Path(os.environ.get("OVOS_DISTRIBUTION_CONFIG") or _DISTRIBUTION / folder / name),
        Path(os.environ.get("MYCROFT_SYSTEM_CONFIG") or _SYSTEM / folder / name),
        user / "runtime.conf",  # what the pre-release line's own plugins and skills change
        *(Path(place) / folder / name for place in shared if place),
        user / name,
    )


def read(files: Iterable[Path] | None = None) -> MycroftConf:
    """The layers that exist, merged, the last one first; raises `MalformedConfig`."""
    merged: dict[str, Any] = {}
    used = []
    for file in config_files() if files is None else files:
        try:
            text = file.read_text(encoding="utf-8-sig")
        except (FileNotFoundError, NotADirectoryError):
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
        self.ignored: dict[str, str] = {}
        """What was read and is not used, because its type is wrong, by its key."""
        self._read: set[str] = set()

    @property
    def unread(self) -> list[str]:
        """The keys at the top that were not asked for."""
        return [name for name in self.tree if name not in self._read]

    def value(self, kind: type[T], *names: str) -> T | None:
        """What a key within tables says, if it is of this type."""
        self._read.add(names[0])
        here: Any = self.tree
        for depth, name in enumerate(names):
            if not isinstance(here, Mapping):
                self._ignore(names[:depth], here, dict)
                return None
            here = here.get(name)
            if here is None:
                return None
        if isinstance(here, (int, float) if kind is float else kind) and not isinstance(here, bool):
            return here  # type: ignore[return-value]
        self._ignore(names, here, kind)
        return None

    def _ignore(self, names: tuple[str, ...], value: Any, wanted: type) -> None:
        self.ignored[".".join(names)] = f"{json.dumps(value)[:60]} is no {_JSON[wanted]}"

    def section(self, *names: str) -> dict[str, Any]:
        """A table within tables; empty when there is none."""
        return dict(self.value(dict, *names) or {})

    def texts(self, *names: str) -> tuple[str, ...]:
        """A list of texts; empty when there is none."""
        return tuple(str(one) for one in self.value(list, *names) or ())

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

    def modules(self, kind: str) -> list[str]:
        """The engine that `stt`, `tts` or `vad` names, and the one that replaces it where it fails."""
        place = ("listener", "VAD") if kind == "vad" else (kind,)
        named = [self.value(str, *place, key) for key in ("module", "fallback_module")]
        return list(dict.fromkeys(name for name in named if name))

    def wake_words(self) -> dict[str, dict[str, Any]]:
        """The words that are on and begin to listen, by name: the chosen one, and those that say so themselves."""
        chosen = (self.value(str, "listener", "wake_word") or "").replace(" ", "_")
        tables: dict[str, dict[str, Any]] = {}
        for name in self.section("hotwords"):
            table = self.value(dict, "hotwords", name)
            if table is not None:
                tables[name.replace(" ", "_")] = {**table, "module": self.value(str, "hotwords", name, "module")}
        if chosen:
            tables.setdefault(chosen, {})
        chosen = chosen or _WAKE_WORD
        return {
            name: table
            for name, table in tables.items()
            if table.get("active", name == chosen) and (name == chosen or table.get("listen"))
        }

    @property
    def pipeline(self) -> tuple[str, ...]:
        """The entries of the intent pipeline."""
        return self.texts("intents", "pipeline")

    @property
    def denied_skills(self) -> tuple[str, ...]:
        """The skills that are installed and not to be loaded."""
        return self.texts("skills", "blacklisted_skills")

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
