"""Installed plugins of OVOS's plugin manager, of every generation: which there are, by their entry points."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from hark import hints
from hark.spec import TRANSFORMER_TYPES

if TYPE_CHECKING:
    from importlib import metadata

FoundKind = Literal[
    "audio", "utterance", "metadata", "intent", "dialog", "tts",
    "pipeline", "stt", "tts_engine", "vad", "wakeword", "solver", "toolbox",
]  # fmt: skip
"""The kinds of plugins that Hark can run: six transformers, matchers, engines, and tools for personas."""

GROUPS: Final[Mapping[FoundKind, tuple[str, ...]]] = {
    "audio": ("opm.transformer.audio", "neon.plugin.audio", "ovos.audio.transformer"),
    "utterance": (
        "opm.transformer.text",
        "opm.transformer.utterance",
        "ovos.utterance.transformer",
        "neon.plugin.text",
    ),
    "metadata": ("opm.transformer.metadata", "ovos.metadata.transformer", "neon.plugin.metadata"),
    "intent": ("opm.transformer.intent", "ovos.intent.transformer"),
    "dialog": ("opm.transformer.dialog", "ovos.dialog.transformer"),
    "tts": ("opm.transformer.tts", "ovos.tts.transformer"),
    "pipeline": ("opm.pipeline", "ovos.pipeline"),
    "stt": ("opm.stt", "mycroft.plugin.stt"),
    "tts_engine": ("opm.tts", "mycroft.plugin.tts"),
    "vad": ("opm.VAD", "ovos.plugin.VAD"),
    "wakeword": ("opm.wake_word", "mycroft.plugin.wake_word"),
    "solver": (
        "opm.agents.retrieval",
        "opm.agents.chat",
        "opm.solver.question",
        "opm.solver.chat",
        "neon.plugin.solver",
    ),
    "toolbox": ("opm.agents.toolbox",),
}
"""The entry-point groups of each kind, the newest first: a plugin that is in several is taken from the first."""

UNSUPPORTED: Final[Mapping[str, str]] = {
    "opm.transformer.typed_slots": "Hark's own `values` reads numbers and dates in slots",
    "opm.plugin.persona": "Hark's personas ask a model behind an endpoint; docs/ovos-plugins.md",
    "opm.gui": "Hark has no screens",
    "ovos.plugin.gui": "Hark has no screens",
    "opm.phal": "hardware is not Hark's business: run it by ovos-PHAL on the bus",
    "ovos.plugin.phal": "hardware is not Hark's business: run it by ovos-PHAL on the bus",
    "ovos.plugin.phal.admin": "hardware is not Hark's business: run it by ovos-PHAL on the bus",
    "opm.microphone": "Hark's own microphones are used",
    "ovos.plugin.microphone": "Hark's own microphones are used",
    "mycroft.plugin.audioservice": "there is no media player",
    "opm.media.audio": "there is no media player",
    "opm.media.video": "there is no media player",
    "opm.ocp.extractor": "there is no media player",
    "ovos.ocp.extractor": "there is no media player",
}
"""Groups whose plugins Hark does not run, and why."""

_ASKS_THE_ASSISTANT: Final = "ovos-solver-bus-plugin"
"""A solver that comes with ovos-bus-client and asks the assistant: as a tool of it, it would go round in circles."""

SKILL_GROUPS: Final = ("opm.skill", "ovos.plugin.skill")
"""The entry-point groups of skills, which run in processes of their own."""

_REMARKS: Final = (
    (
        re.compile(r"\b(ocp_search|ocp_featured_media|OVOSCommonPlaybackSkill|\w*GameSkill)\b"),
        "Hark has no media player (OCP), so what asks for media does not reach it",
    ),
    (
        re.compile(r"\bovos\.common_reading\b"),
        "only ovos-common-reading-pipeline-plugin finds it, which has to be installed beside Hark",
    ),
)
"""What keeps some or all sentences of a skill from it, by what its code says."""

NEEDED: Final = "ovos_plugin_manager"
"""The module that every plugin of these groups is written with."""


class FoundPlugin(msgspec.Struct, frozen=True, kw_only=True):
    """One installed plugin. Nothing of it is imported until `load` is called."""

    kind: FoundKind
    id: str
    """Its name as an id of Hark."""
    name: str
    """Its name as OVOS and `mycroft.conf` know it."""
    group: str
    place: str
    """Module and class."""
    package: str
    version: str

    @property
    def chain(self) -> str:
        """Kind and id, as [transformers] can name a transformer."""
        return f"{self.kind}.{self.id}"

    @property
    def is_transformer(self) -> bool:
        return self.kind in TRANSFORMER_TYPES

    @property
    def origin(self) -> str:
        """Package and entry point, for reports."""
        return f"{self.package} {self.version}: {self.group} {self.name}"

    @property
    def missing(self) -> str:
        """What has to be installed before it can be loaded; empty when everything is there."""
        return "" if find_spec(NEEDED) is not None else hints.install_extra("opm")

    def load(self) -> Any:
        """Its class; importing it may raise anything."""
        from importlib import metadata  # here: it costs 2 MB, and most assistants have no such plugin

        return metadata.EntryPoint(self.name, self.place, self.group).load()


def found(kinds: Collection[FoundKind] = tuple(GROUPS), path: Iterable[str] | None = None) -> Iterator[FoundPlugin]:
    """The installed plugins of these kinds, each once; those of another environment by its import `path`."""
    wanted = {group: kind for kind in kinds for group in GROUPS[kind]}
    seen: set[tuple[str, str]] = set()
    offers = [
        (group_rank(point.group), point, package)
        for package in _packages(path)
        for point in package.entry_points
        if point.group in wanted and not point.name.endswith(".config") and point.name != _ASKS_THE_ASSISTANT
    ]
    for _, point, package in sorted(offers, key=lambda offer: (offer[0], offer[1].name)):
        kind = wanted[point.group]
        if (kind, point.name) in seen:
            continue
        seen.add((kind, point.name))
        yield FoundPlugin(
            kind=kind,
            id=plugin_id(point.name, kind),
            name=point.name,
            group=point.group,
            place=point.value,
            package=package.metadata["Name"] or "an unknown package",
            version=package.version or "",
        )


def unsupported(path: Iterable[str] | None = None) -> Iterator[tuple[str, str, str]]:
    """Installed plugins that Hark does not run: package, name and why."""
    seen: set[tuple[str, str]] = set()
    for package in _packages(path):
        for point in package.entry_points:
            one = package.metadata["Name"], point.name
            if point.group in UNSUPPORTED and one not in seen:
                seen.add(one)
                yield *one, UNSUPPORTED[point.group]


class FoundSkill(msgspec.Struct, frozen=True, order=True):
    """One installed skill of OVOS."""

    package: str
    version: str
    skill_id: str
    remark: str = ""
    """What keeps some or all of its sentences from it here."""


def skills(path: Iterable[str] | None = None) -> Iterator[FoundSkill]:
    """Installed skills of OVOS, each once."""
    seen: set[str] = set()
    for package in _packages(path):
        for point in package.entry_points:
            if point.group in SKILL_GROUPS and point.name not in seen:
                seen.add(point.name)
                yield FoundSkill(package.metadata["Name"], package.version, point.name, _remark(package, point.module))


def _remark(package: metadata.Distribution, module: str) -> str:
    place = module.replace(".", "/")
    try:
        code = package.read_text(f"../{place}/__init__.py") or package.read_text(f"../{place}.py") or ""
    except (OSError, UnicodeDecodeError):
        return ""
    return next((text for pattern, text in _REMARKS if pattern.search(code)), "")


def group_rank(group: str) -> tuple[int, int]:
    """Where a group stands in `GROUPS`: by kind, then the newest first."""
    for place, groups in enumerate(GROUPS.values()):
        if group in groups:
            return place, groups.index(group)
    return len(GROUPS), 0


def plugin_id(name: str, kind: FoundKind) -> str:
    """A name of OVOS as an id of Hark: dots are not allowed in that of a pipeline plugin or toolbox, blanks in none."""
    without_dots = kind in ("pipeline", "solver", "toolbox")
    return re.sub(r"[^A-Za-z0-9_-]" if without_dots else r"[^A-Za-z0-9._-]", "-", name)


def _packages(path: Iterable[str] | None) -> Iterator[metadata.Distribution]:
    from importlib import metadata

    seen: set[str] = set()
    for package in metadata.distributions() if path is None else metadata.distributions(path=list(path)):
        name = (package.metadata["Name"] or "").lower()
        if name not in seen:  # a package earlier in the path hides a later one
            seen.add(name)
            yield package
