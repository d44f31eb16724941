"""The settings of an assistant: every key, its type, its default and what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hark.model import Frozen, freeze
from hark.model.lang import canonical
from hark.spec import TransformerType
from hark.understand import Entry, Options


class AssistantTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[assistant]`: language and pipeline."""

    lang: str = "en-US"
    """The language of an utterance that shows no other."""
    langs: tuple[str, ...] = ()
    """Further languages the assistant understands."""
    pipeline: tuple[str, ...] = ("template",)
    """Who is asked to claim an utterance, in order: ids of pipeline plugins, or names of [pipeline.<name>] tables."""


class TransformersTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[transformers]`: which transformers run in each chain, in order; a chain not named here goes by priority."""

    audio: tuple[str, ...] | None = None
    utterance: tuple[str, ...] | None = None
    metadata: tuple[str, ...] | None = None
    intent: tuple[str, ...] | None = None
    dialog: tuple[str, ...] | None = None
    tts: tuple[str, ...] | None = None

    def order(self, kind: TransformerType) -> tuple[str, ...] | None:
        """The explicit order of one chain, or None to go by priority."""
        named: tuple[str, ...] | None = getattr(self, kind)
        return named


class LimitsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[limits]`: how long plugins may take, and how often they may fail."""

    transformer: float = 5.0
    """Seconds one call of a transformer may take."""
    match: float = 10.0
    """Seconds one pipeline plugin may take to decide."""
    start: float = 30.0
    """Seconds a plugin may take to start, and to stop."""
    handler: float | None = None
    """Seconds a handler may take; without it, all the time it wants."""
    failures: int = 5
    """Failures in a row after which a plugin is left out for a while."""
    retry_after: float = 60.0
    """Seconds until a plugin that was left out is tried again."""
    open_turns: int = 1_000
    """Turns under way at once, beyond which utterances are turned away."""
    grace: float = 5.0
    """Seconds that open turns are given at shutdown."""
    plugins: dict[str, float] = {}
    """Seconds for single plugins, by id."""


class TraceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[trace]`: the story of each turn."""

    size: int = 1_000
    """Turns kept in memory."""
    disk: bool = True
    """Whether the last turns are also kept on disk. They hold what people said."""


class Settings(msgspec.Struct, frozen=True):
    """All of it, checked."""

    assistant: AssistantTable = AssistantTable()
    transformers: TransformersTable = TransformersTable()
    limits: LimitsTable = LimitsTable()
    trace: TraceTable = TraceTable()
    deny: dict[str, tuple[str, ...]] = {}
    entries: dict[str, Entry] = {}
    plugins: dict[str, dict[str, Any]] = {}

    def understanding(self) -> Options:
        """What the understanding room needs of it."""
        lang = canonical(self.assistant.lang)
        return Options(
            lang=lang,
            langs=frozenset((lang, *map(canonical, self.assistant.langs))),
            pipeline=self.assistant.pipeline,
            entries=self.entries,
            denylists={f"blacklisted_{name}": denied for name, denied in self.deny.items()},
            max_open_turns=self.limits.open_turns,
            handler_limit=self.limits.handler,
            grace=self.limits.grace,
        )


def settings_from(tree: Mapping[str, Any]) -> Settings:
    """Settings from a tree of tables, as a TOML file gives them."""
    tables = dict(tree)
    entries = {}
    for name, table in tables.pop("pipeline", {}).items():
        config = dict(table)
        entries[name] = Entry(config.pop("plugin", name), Frozen(freeze(config)))
    return msgspec.structs.replace(msgspec.convert(tables, Settings), entries=entries)
