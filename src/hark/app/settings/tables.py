"""Every table and key of the settings file, with its default and what it is for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from hark.app.settings.kinds import (
    Address,
    Addresses,
    ById,
    Count,
    Degrees90,
    Degrees180,
    File,
    Files,
    Flag,
    HourClock,
    Lang,
    Langs,
    Name,
    Names,
    Origins,
    Pause,
    Place,
    Port,
    Rate,
    Seconds,
    SessionSize,
    Share,
    UnitSystem,
    Url,
    UrlPath,
    Zone,
)
from hark.model import Frozen
from hark.model.lang import canonical
from hark.plugins.home import Home
from hark.spec import TransformerType
from hark.spec.names import DENYLISTS
from hark.understand import PipelineEntry, TurnOptions


class BusTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The websocket bus: its server, and the services that connect to it; see docs/bus.md."""

    serve: Flag = True
    """Whether `hark run` in one process serves clients on this machine; needs the extra "websocket"."""
    ovos: Flag = True
    """Whether OVOS clients and skills that use older names are translated for."""
    url: Url | None = None
    """Where services in processes of their own find the bus; else host, port and path say so."""
    token: File | None = None
    """A file with the token of these services, where the bus needs one."""
    authority: File | None = None
    """The certificate of the bus, where it is not one that this machine trusts anyway."""
    host: Address = "127.0.0.1"
    """The address where the bus listens. One that other machines can reach needs a certificate and tokens."""
    port: Port = 8181
    """Its port, for the server and for the services that connect to it."""
    path: UrlPath = "/core"
    """Its path."""
    remote_host: Address | None = None
    """A second address to listen at, for other machines; "0.0.0.0" is every address of this machine."""
    remote_port: Port = 8182
    """Its port."""
    certificate: File | None = None
    """The certificate for addresses that other machines can reach."""
    key: File | None = None
    """Its key."""
    tokens: File | None = None
    """The file with the tokens; else tokens.json in the state directory."""
    ask_everybody: Flag = False
    """Whether clients on this machine need a token as well."""
    hosts: Addresses = ()
    """Names under which clients may reach this machine, besides localhost and its addresses."""
    origins: Origins = ()
    """Web sites whose pages may connect; no others may."""
    largest_message: Count = 4_194_304
    """Bytes that a Message may have; a client that sends more is disconnected."""
    backlog: Count = 33_554_432
    """Bytes that may wait for a client to read them; beyond that it is disconnected."""
    backlogs: Count = 268_435_456
    """Bytes that may wait for all clients together; beyond that the slowest client is disconnected."""
    connections: Count = 256
    """Clients at once; further ones are refused."""
    client_connections: Count = 128
    """Connections at once with one token, and of all clients on this machine without one."""
    rate: Rate = 20_000.0
    """Messages a second that a client may send over time; one that sends more is read more slowly."""
    burst: Count = 40_000
    """Messages it may send at once before that."""
    byte_rate: Rate = 16_777_216.0
    """Bytes a second that a client may send over time; one that sends more is read more slowly."""
    byte_burst: Count = 67_108_864
    """Bytes it may send at once before that."""
    registrations: Count = 5_000
    """Intents and entities that a client may register; all on this machine without a token together, twice as many."""
    registration_bytes: Count = 8_388_608
    """Bytes of the Messages that register them."""
    handshake: Seconds = 5.0
    """Seconds in which a new connection has to become a websocket."""


class NatsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """NATS in the place of the websocket bus, where servers are named; see docs/nats.md."""

    servers: Names = ()
    """Where the servers are, as "nats://host:4222", or "tls://host:4222" for encrypted connections."""
    prefix: str = "hark."
    """The beginning of every subject, so that several assistants can share servers."""
    token: File | None = None
    """A file with the token that the servers need."""
    user: Name | None = None
    """The name of the user that the servers know this assistant by, or this service of it."""
    password: File | None = None
    """A file with the password of this user."""
    credentials: File | None = None
    """A file with the credentials of a user, as nsc writes it."""
    authority: File | None = None
    """The certificate of the servers, where it is not one that this machine trusts anyway."""
    certificate: File | None = None
    """The certificate of this client, where the servers need one."""
    key: File | None = None
    """Its key."""


class VoiceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Voice: listening and speaking. Engines are named in order of preference: if one fails, the next takes over. A
    name is the id of an engine, or the name of an [engine.<name>] table.
    """

    stt: Names = ("faster-whisper",)
    """Speech recognition."""
    tts: Names = ("hibari", "nanotts")
    """Speech synthesis. Each engine is used for the languages it knows."""
    vad: Names = ("silero",)
    """Voice activity detection."""
    wakeword: Names = ("microwakeword",)
    """Detection of the wake words of [wake.<name>]; without such a table, of "hey jarvis"."""
    microphone: Names = ("sounddevice",)
    """Sound input."""
    player: Names = ("sounddevice",)
    """Sound output."""
    always_listening: Flag = False
    """Whether the assistant listens all the time, without a wake word."""
    wake_by_voice: Flag = False
    """Whether a wake word also ends sleep; otherwise only the device itself can end it."""
    barge_in: Flag = True
    """Whether a wake word interrupts speech."""
    half_duplex: Flag = False
    """Whether only wake words are recognised during playback: for devices that hear themselves."""
    silence: Seconds = 0.7
    """Seconds of silence that end a command."""
    no_speech: Seconds = 5.0
    """Seconds without speech after which listening ends."""
    longest: Seconds = 30.0
    """The longest command, in seconds."""
    sentence_by_sentence: Flag = True
    """Whether the first sentence of an answer is played while the next is synthesised."""
    earcons: Flag = True
    """Whether short sounds are played when listening begins and when recognition fails."""
    sound_folders: Files = ()
    """Folders with sound files that clients on the bus may have played by path."""


class WakeTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wake word. Choose any name after the dot."""

    phrase: Name
    """The spoken phrase."""
    model: Name | None = None
    """The name or path of the model, if it does not follow from the phrase."""
    lang: Lang | None = None
    """The language of the command that follows."""
    persona: Name | None = None
    """The persona that is addressed."""
    threshold: Share | None = None
    """The confidence that the engine has to reach."""


DENIES = "blacklisted_"
"""The session field of a key of [deny] is this prefix and the key."""


DEFAULT_PIPELINE = (
    *("stop", "interrupt", "converse", "several", "correction"),
    *("template_exact", "keyword_exact", "template", "keyword", "common_query", "fallback"),
)
BUILTIN_ENTRIES = {
    "fallback_skills": PipelineEntry("fallback", Frozen(max=90)),
    "persona_fallback": PipelineEntry("persona", Frozen(fallback=True)),
    "template_exact": PipelineEntry("template", Frozen(mode="exact")),
    "keyword_exact": PipelineEntry("keyword", Frozen(mode="strict")),
}
"""Pipeline entries that need no table: personas that answer what is left (PERSONA-1 §7.1), the fallback skills that
can do something and come before these, and matchers that are asked first for what is sure, so that all keywords of an
intent count more than a sentence that is only similar.
"""


class AssistantTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Language and pipeline."""

    lang: Lang = "en-US"
    """The default language: that of an utterance without one."""
    langs: Langs = ()
    """Further languages the assistant understands."""
    pipeline: Names = DEFAULT_PIPELINE
    """The pipeline plugins that are asked to match an utterance, in order: their ids, or names of [pipeline.<name>]
    tables. docs/pipeline.md explains the default order.
    """
    protect_skills: Flag = True
    """Whether only a skill itself may deregister it. This applies to every plugin that has this setting, unless its
    own table says otherwise.
    """
    context_topics: Flag = True
    """Whether programs on the bus may change the context of a session by ovos.context.set, .unset and .clear."""
    files: Files = ()
    """Python files with plugins, or folders with an __init__.py, to load besides installed ones; relative to the
    folder of this file.
    """
    toolboxes: Names = ()
    """Solvers and toolboxes of OVOS, by id: their tools are for personas. docs/ovos-plugins.md"""


class HomeTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the assistant is, and how its users want to hear things; "hark setup" asks for it."""

    place: str = ""
    """The name of the place: "Boston". Weather is that of its latitude and longitude, or else is looked up by it."""
    latitude: Degrees90 | None = None
    """Degrees north."""
    longitude: Degrees180 | None = None
    """Degrees east; west of Greenwich they are negative."""
    time_zone: Zone | None = None
    """The time zone, such as "America/New_York"; else that of the machine."""
    units: UnitSystem | None = None
    """Units: "metric" or "imperial"; else what is usual for the language: imperial in en-US."""
    clock: HourClock | None = None
    """A clock of 12 or of 24 hours; else what is usual for the language: 12 in en-US."""
    names: Names = ("Hark",)
    """What the assistant is called. It introduces itself by the first; wake words are in [wake.<name>]."""

    def value(self) -> Home:
        """The same for plugins."""
        return Home(
            self.place,
            self.latitude,
            self.longitude,
            self.time_zone or "",
            self.units,
            self.clock,
            self.names or ("Hark",),
        )


class TransformersTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The transformers of each chain, in order. A chain that is not set runs all loaded transformers by priority."""

    audio: Names | None = None
    """On recorded speech, before recognition."""
    utterance: Names | None = None
    """On the text of an utterance, before matching."""
    metadata: Names | None = None
    """On the context of an utterance: session, routing."""
    intent: Names | None = None
    """On a match, before its handler is called."""
    dialog: Names | None = None
    """On an answer, before it is spoken."""
    tts: Names | None = None
    """On synthesised speech, before playback."""
    enable: Names = ()
    """Transformers of Hark that are off otherwise, by id or as "chain.id"; "hark transformers" lists them. They run by
    priority, or where the list of their chain names them.
    """

    def order(self, kind: TransformerType) -> tuple[str, ...] | None:
        """The configured order of one chain, or None for the order by priority."""
        named: tuple[str, ...] | None = getattr(self, kind)
        return named


class TransformerTable(msgspec.Struct, frozen=True):
    """A single transformer, by its chain and its id. Its other keys are settings of the transformer itself, for this
    chain; they come before those of [plugins.<id>], which two transformers of the same id share.
    """

    priority: Place | None = None
    """Its place in the chain instead of its own: 1 runs first, 100 last."""
    essential: Flag = False
    """Whether what it has not accepted goes no further: when it fails, is late or is not loaded, the utterance, or the
    answer, is cancelled.
    """


class LimitsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long plugins may take, how often they may fail, and how many turns may be open."""

    transformer: Seconds = 5.0
    """Seconds one call of a transformer may take."""
    match: Seconds = 10.0
    """Seconds one call of a pipeline plugin may take."""
    start: Seconds = 30.0
    """Seconds a plugin may take to start, and to stop."""
    handler: Seconds | None = None
    """Seconds a handler may take; not limited if unset."""
    quiet: Seconds = 10.0
    """Seconds after which a program on the bus that does not say when its handler has ended counts as done, from its
    last Message of the turn; docs/outside.md explains it.
    """
    failures: Count = 5
    """Failures in a row after which a plugin is suspended."""
    retry_after: Pause = 60.0
    """Seconds until a suspended plugin is tried again."""
    open_turns: Count = 1_000
    """Open turns at once; further utterances are rejected. Programs on the bus may have four fifths of them."""
    client_turns: Count = 200
    """Open turns of one program on the bus: of one token, or of one connection without a token."""
    session: SessionSize = 65_536
    """Bytes a session may have; of one with more only the known fields count, or its id."""
    utterance: Count = 10_240
    """Bytes an utterance may have, all its candidates together; one with more is not looked at."""
    candidates: Count = 20
    """Candidates an utterance may have; one with more is not looked at."""
    converse_cap: Count = 20
    """Skills in a session that are offered the next utterance first, at most."""
    converse_ttl: Seconds = 300.0
    """Seconds for which a skill stays one of them after its last call."""
    grace: Pause = 5.0
    """Seconds that open turns have left at shutdown."""
    plugins: ById = {}
    """Seconds for single plugins, by id, instead of transformer or match."""


class TraceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The trace of each turn, which "hark why" shows."""

    size: Count = 1_000
    """Turns kept in memory, at most."""
    memory: Count = 16_777_216
    """Bytes of them, at most; the oldest are dropped first."""
    disk: Flag = True
    """Whether what people said is kept on disk: the traces of the last 1,000 turns, what skills remember of a
    conversation, and the turns that are open. If not, a killed process ends its open turns all the same.
    """
    disk_bytes: Count = 33_554_432
    """Bytes of traces on disk, at most; in several processes, of each."""
    days: Count = 30
    """Days after which a trace is deleted."""


class ScheduleTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The scheduler, which alarms, timers and reminders go by; see docs/schedule.md."""

    wait_for: Name | None = None
    """A topic that has to be seen after a start before anything is fired that was due meanwhile."""
    delay: Pause = 0.0
    """Seconds to wait after a start before that."""
    grants: Names = ()
    """Components that may list and cancel the schedules of all others, by the identity the bus knows them by."""


class DenyTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is denied to every session. A session can deny more, never less."""

    skills: Names = ()
    """Skills whose matches are ignored."""
    intents: Names = ()
    """Single intents that are ignored, as "skill_id:intent_name"."""
    pipelines: Names = ()
    """Pipeline plugins that are not asked, by their ids or as entries of the pipeline."""
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
        """The lists that are not empty, by session field."""
        named = {name: getattr(self, name.removeprefix(DENIES)) for name in DENYLISTS}
        return {name: denied for name, denied in named.items() if denied}


class ServicesTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An assistant in several processes; see docs/operating.md. [rooms] is the old name of this table."""

    stalled: Seconds = 5.0
    """Seconds for which the event loop of a process may stand still before "hark run --split" kills and restarts it."""


class Settings(msgspec.Struct, frozen=True):
    """All settings, checked."""

    assistant: AssistantTable = AssistantTable()
    home: HomeTable = HomeTable()
    transformers: TransformersTable = TransformersTable()
    transformer: dict[TransformerType, dict[str, dict[str, Any]]] = {}
    """`[transformer.<kind>.<id>]`: single transformers."""
    limits: LimitsTable = LimitsTable()
    trace: TraceTable = TraceTable()
    schedule: ScheduleTable = ScheduleTable()
    deny: DenyTable = DenyTable()
    voice: VoiceTable = VoiceTable()
    wake: dict[str, WakeTable] = {}
    """`[wake.<name>]`: wake words."""
    engine: dict[str, dict[str, Any]] = {}
    """`[engine.<name>]`: settings of engines; one engine can have several names."""
    services: ServicesTable = ServicesTable()
    bus: BusTable = BusTable()
    nats: NatsTable = NatsTable()
    entries: dict[str, PipelineEntry] = {}
    """`[pipeline.<name>]`: pipeline entries with a configuration of their own."""
    plugins: dict[str, dict[str, Any]] = {}
    """`[plugins.<id>]`: checked by the `Settings` of each plugin when it is loaded."""

    @property
    def pipeline(self) -> tuple[str, ...]:
        """The entries of the pipeline, in order. The default one has personas where a model is configured for them."""
        stated = self.assistant.pipeline
        persona = self.plugins.get("persona", {})
        if stated is not DEFAULT_PIPELINE or not persona.get("endpoint"):
            return stated
        rest = () if persona.get("answers_the_rest") is False else ("fallback_skills", "persona_fallback")
        place = stated.index("fallback")
        return (*stated[:place], "persona", *rest, *stated[place:])

    def speaking(self, lang: str) -> Settings:
        """The same settings with another main language; the one they had is still understood."""
        old = self.assistant
        table = msgspec.structs.replace(old, lang=lang, langs=(*old.langs, old.lang))
        return msgspec.structs.replace(self, assistant=table)

    def table_for(self, plugin_id: str, plugin: type) -> dict[str, Any] | None:
        """The settings of a plugin: its own tables; `protect_skills` and `wake_words` where it has such settings."""
        table, fields = self.plugins.get(plugin_id), _fields(plugin)
        single = self.transformer.get(_class_value(plugin, "type"), {}).get(plugin_id) if self.transformer else None
        if single is not None:
            table = {**(table or {}), **{key: value for key, value in single.items() if key not in TRANSFORMER_KEYS}}
        if self.wake and "wake_words" in fields:
            table = {"wake_words": [wake.phrase for wake in self.wake.values()], **(table or {})}
        if self.assistant.protect_skills or "protect_skills" not in fields:
            return table
        return {"protect_skills": False, **(table or {})}

    def transformer_table(self, kind: TransformerType, transformer_id: str) -> TransformerTable:
        """What the settings say about a transformer, beside its own settings."""
        table = self.transformer.get(kind, {}).get(transformer_id, {})
        return TransformerTable(**{key: table[key] for key in TRANSFORMER_KEYS if key in table})

    def essential(self, kind: TransformerType) -> tuple[str, ...]:
        """The ids of the essential transformers of one chain."""
        return tuple(name for name in self.transformer.get(kind, {}) if self.transformer_table(kind, name).essential)

    def understanding(self) -> TurnOptions:
        """The options of the service understand."""
        lang = canonical(self.assistant.lang)
        return TurnOptions(
            lang=lang,
            langs=frozenset((lang, *map(canonical, self.assistant.langs))),
            pipeline=self.pipeline,
            entries={**BUILTIN_ENTRIES, **self.entries},
            denylists=self.deny.lists(),
            protect_skills=self.assistant.protect_skills,
            max_open_turns=self.limits.open_turns,
            max_client_turns=self.limits.client_turns,
            max_session=self.limits.session,
            max_utterance=self.limits.utterance,
            max_candidates=self.limits.candidates,
            handler_limit=self.limits.handler,
            quiet=self.limits.quiet,
            converse_cap=self.limits.converse_cap,
            converse_ttl=self.limits.converse_ttl,
            context_topics=self.assistant.context_topics,
            grace=self.limits.grace,
        )


def _class_value(plugin: type, name: str) -> Any:
    # Looked up in the class dictionaries: the plugin is not checked yet, and attribute access could run its code.
    return next((vars(owner)[name] for owner in plugin.__mro__ if name in vars(owner)), None)


def _fields(plugin: type) -> Collection[str]:
    shape = _class_value(plugin, "Settings")
    return vars(shape).get("__dataclass_fields__", ()) if isinstance(shape, type) else ()


TABLES: dict[str, type[msgspec.Struct]] = {
    "assistant": AssistantTable,
    "home": HomeTable,
    "transformers": TransformersTable,
    "limits": LimitsTable,
    "trace": TraceTable,
    "schedule": ScheduleTable,
    "deny": DenyTable,
    "voice": VoiceTable,
    "services": ServicesTable,
    "bus": BusTable,
    "nats": NatsTable,
}
"""The tables whose keys are fixed, in the order in which they are documented."""

TRANSFORMER_KEYS: frozenset[str] = frozenset(TransformerTable.__struct_fields__)
"""The keys of a `[transformer.<kind>.<id>]` table that are not settings of the transformer itself."""

OLD_NAMES: dict[str, str] = {"rooms": "services"}
"""Tables that had another name, which is still read."""

NAMED_TABLES: dict[str, type[msgspec.Struct]] = {"wake": WakeTable}
"""The tables of which there can be several, each with fixed keys and a name chosen by the user."""
