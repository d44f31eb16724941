"""Every table and key of the settings file, with its default and what it is for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from hark.app.settings.bus_tables import BusTable, NatsTable
from hark.app.settings.kinds import ById, Count, Files, Flag, Lang, Langs, Names, Pause, Seconds
from hark.app.settings.voice_tables import VoiceTable, WakeTable
from hark.model.lang import canonical
from hark.spec import TransformerType
from hark.spec.names import DENYLISTS
from hark.understand import Entry, Options

DENIES = "blacklisted_"
"""What the session calls a key of [deny] is this and the key."""


class AssistantTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Language and pipeline."""

    lang: Lang = "en-US"
    """The language of an utterance that shows no other."""
    langs: Langs = ()
    """Further languages the assistant understands."""
    pipeline: Names = ("stop", "converse", "template", "keyword", "common_query", "fallback")
    """Who is asked to claim an utterance, in order: ids of pipeline plugins, or names of [pipeline.<name>] tables.
    docs/pipeline.md says why in this order.
    """
    protect_skills: Flag = True
    """Whether a skill may be deregistered by nobody but itself. It holds for every plugin that knows this setting,
    unless its own table says otherwise.
    """
    context_topics: Flag = True
    """Whether skills of others may remember and forget things in a session by ovos.context.set, .unset and .clear."""
    files: Files = ()
    """Python files with plugins to load beside installed ones, or folders with an __init__.py; relative to the folder
    of this file.
    """


class TransformersTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which transformers run in each chain, in this order. A chain that is not named here runs all that are loaded,
    by their priority.
    """

    audio: Names | None = None
    """On recorded speech, before it is recognised."""
    utterance: Names | None = None
    """On what was said, before anybody is asked to claim it."""
    metadata: Names | None = None
    """On the context of an utterance: session, routing."""
    intent: Names | None = None
    """On a claim, before its handler is called."""
    dialog: Names | None = None
    """On an answer, before it is spoken."""
    tts: Names | None = None
    """On synthesised speech, before it is played."""

    def order(self, kind: TransformerType) -> tuple[str, ...] | None:
        """The explicit order of one chain, or None to go by priority."""
        named: tuple[str, ...] | None = getattr(self, kind)
        return named


class LimitsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long plugins may take, how often they may fail, and how much goes on at once."""

    transformer: Seconds = 5.0
    """Seconds one call of a transformer may take."""
    match: Seconds = 10.0
    """Seconds one pipeline plugin may take to decide."""
    start: Seconds = 30.0
    """Seconds a plugin may take to start, and to stop."""
    handler: Seconds | None = None
    """Seconds a handler may take; without it, all the time it wants."""
    failures: Count = 5
    """Failures in a row after which a plugin is left out for a while."""
    retry_after: Pause = 60.0
    """Seconds until a plugin that was left out is tried again."""
    open_turns: Count = 1_000
    """Turns under way at once, beyond which utterances are turned away."""
    converse_cap: Count = 20
    """Skills that a session keeps in mind as those who may be offered what is said next."""
    converse_ttl: Seconds = 300.0
    """Seconds after its last call for which a skill is one of them."""
    grace: Pause = 5.0
    """Seconds that open turns are given at shutdown."""
    plugins: ById = {}
    """Seconds for single plugins, by id, in place of transformer or match."""


class TraceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The story of each turn, which "hark why" tells."""

    size: Count = 1_000
    """Turns kept in memory."""
    disk: Flag = True
    """Whether the last 1,000 turns are also kept on disk. They hold what people said."""


class DenyTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is denied to every session that brings no list of its own."""

    skills: Names = ()
    """Skills whose claims are passed over."""
    intents: Names = ()
    """Single intents that are passed over, as "skill_id:intent_name"."""
    pipelines: Names = ()
    """Pipeline plugins that are not asked."""
    audio_transformers: Names = ()
    """Audio transformers that do not run."""
    utterance_transformers: Names = ()
    """Utterance transformers that do not run."""
    metadata_transformers: Names = ()
    """Metadata transformers that do not run."""
    intent_transformers: Names = ()
    """Intent transformers that do not run."""
    dialog_transformers: Names = ()
    """Dialog transformers that do not run."""
    tts_transformers: Names = ()
    """TTS transformers that do not run."""

    def lists(self) -> dict[str, tuple[str, ...]]:
        """The lists that deny anything, by session field."""
        named = {name: getattr(self, name.removeprefix(DENIES)) for name in DENYLISTS}
        return {name: denied for name, denied in named.items() if denied}


class ServicesTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An assistant in several processes; docs/operating.md tells more. [rooms] is the old name of this table."""

    stalled: Seconds = 5.0
    """Seconds for which the event loop of a process may stand still before "hark run --split" kills and restarts it."""


class Settings(msgspec.Struct, frozen=True):
    """All of it, checked."""

    assistant: AssistantTable = AssistantTable()
    transformers: TransformersTable = TransformersTable()
    limits: LimitsTable = LimitsTable()
    trace: TraceTable = TraceTable()
    deny: DenyTable = DenyTable()
    voice: VoiceTable = VoiceTable()
    wake: dict[str, WakeTable] = {}
    """`[wake.<name>]`: the phrases that open the ears."""
    engine: dict[str, dict[str, Any]] = {}
    """`[engine.<name>]`: engines with settings of their own, so that one can be there twice."""
    services: ServicesTable = ServicesTable()
    bus: BusTable = BusTable()
    nats: NatsTable = NatsTable()
    entries: dict[str, Entry] = {}
    """`[pipeline.<name>]`: entries that are more than a plugin's id."""
    plugins: dict[str, dict[str, Any]] = {}
    """`[plugins.<id>]`: what each plugin's own `Settings` checks when it is loaded."""

    def speaking(self, lang: str) -> Settings:
        """The same settings with another main language; the one they had is still understood."""
        told = self.assistant
        table = msgspec.structs.replace(told, lang=lang, langs=(*told.langs, told.lang))
        return msgspec.structs.replace(self, assistant=table)

    def table_for(self, plugin_id: str, plugin: type) -> dict[str, Any] | None:
        """What a plugin is told: its own table, and what holds for everybody where it has a setting for that."""
        table = self.plugins.get(plugin_id)
        if self.assistant.protect_skills or "protect_skills" not in _fields(plugin):
            return table
        return {"protect_skills": False, **(table or {})}

    def understanding(self) -> Options:
        """What the understanding room needs of it."""
        lang = canonical(self.assistant.lang)
        return Options(
            lang=lang,
            langs=frozenset((lang, *map(canonical, self.assistant.langs))),
            pipeline=self.assistant.pipeline,
            entries=self.entries,
            denylists=self.deny.lists(),
            protect_skills=self.assistant.protect_skills,
            max_open_turns=self.limits.open_turns,
            handler_limit=self.limits.handler,
            converse_cap=self.limits.converse_cap,
            converse_ttl=self.limits.converse_ttl,
            context_topics=self.assistant.context_topics,
            grace=self.limits.grace,
        )


def _fields(plugin: type) -> Collection[str]:
    # Looked up by hand: nobody has checked this plugin yet, and looking at it may do anything.
    shape = next((vars(owner)["Settings"] for owner in plugin.__mro__ if "Settings" in vars(owner)), None)
    return vars(shape).get("__dataclass_fields__", ()) if isinstance(shape, type) else ()


TABLES: dict[str, type[msgspec.Struct]] = {
    "assistant": AssistantTable,
    "transformers": TransformersTable,
    "limits": LimitsTable,
    "trace": TraceTable,
    "deny": DenyTable,
    "voice": VoiceTable,
    "services": ServicesTable,
    "bus": BusTable,
    "nats": NatsTable,
}
"""The tables whose keys are fixed, in the order in which they are documented."""

OLD_NAMES: dict[str, str] = {"rooms": "services"}
"""Tables that had another name, which is still read."""

NAMED_TABLES: dict[str, type[msgspec.Struct]] = {"wake": WakeTable}
"""The tables of which there can be several, each with a name of the deployer's choice and fixed keys."""
