"""Every table and key of the settings file, with its default and what it is for."""

from __future__ import annotations

import types
from collections.abc import Collection
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec import Meta

from hark.model.lang import canonical, is_tag
from hark.spec import TransformerType
from hark.spec.names import DENYLISTS
from hark.understand import Entry, Options

Flag = Annotated[bool, Meta(description="true or false")]
Count = Annotated[int, Meta(ge=1, le=2**31 - 1, description="a whole number, 1 or more")]
Seconds = Annotated[float, Meta(gt=0, description="a number of seconds above 0", examples=[20.0])]
Pause = Annotated[float, Meta(ge=0, description="a number of seconds, 0 or more")]
Share = Annotated[float, Meta(ge=0, le=1, description="a number from 0 to 1", examples=[0.5])]
Lang = Annotated[str, Meta(description='a language tag such as "en-US"', extra={"fits": is_tag})]
Langs = Annotated[tuple[Lang, ...], Meta(description='a list of language tags such as ["de-DE", "fr"]')]
Name = Annotated[str, Meta(min_length=1, description="an id in quotes")]
Names = Annotated[
    tuple[Name, ...], Meta(description='a list of ids such as ["one", "another"]', examples=[["one", "another"]])
]
File = Annotated[str, Meta(min_length=1, description="a path in quotes")]
Files = Annotated[tuple[File, ...], Meta(description='a list of paths such as ["weather.py"]')]
Address = Annotated[str, Meta(min_length=1, description='a host name or an address such as "127.0.0.1"')]
Addresses = Annotated[tuple[Address, ...], Meta(description='a list of host names such as ["hub.local"]')]
Origins = Annotated[tuple[Address, ...], Meta(description='a list of web sites such as ["https://panel.example"]')]
Port = Annotated[int, Meta(ge=0, le=65_535, description="a number up to 65535")]
UrlPath = Annotated[str, Meta(min_length=1, description='the path of an address such as "/core"')]
Url = Annotated[str, Meta(min_length=1, description='an address such as "ws://127.0.0.1:8181/core"')]
Rate = Annotated[float, Meta(ge=0, description="a number a second, 0 for no limit")]
ById = Annotated[dict[str, Seconds], Meta(description="a table of seconds by plugin id such as { template = 20.0 }")]


def meta_of(kind: Any) -> Meta | None:
    """What a kind says about itself."""
    kind = _set(kind)
    return get_args(kind)[1] if get_origin(kind) is Annotated else None


def item_of(kind: Any) -> Any:
    """The kind of the items, for a list; else None."""
    plain = _plain(kind)
    return get_args(plain)[0] if get_origin(plain) is tuple else None


def value_of(kind: Any) -> Any:
    """The kind of the values, for a table with names of the deployer's choice; else None."""
    plain = _plain(kind)
    return get_args(plain)[1] if get_origin(plain) is dict else None


def _plain(kind: Any) -> Any:
    kind = _set(kind)
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _set(kind: Any) -> Any:
    """The kind without `| None`, which no file can say."""
    if get_origin(kind) in (Union, types.UnionType):
        return next(part for part in get_args(kind) if part is not type(None))
    return kind


class BusTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The websocket bus: its server, and the services that connect to it; see docs/bus.md."""

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
    rate: Rate = 20_000.0
    """Messages a second that a client may send over time; one that sends more is read more slowly."""
    burst: Count = 40_000
    """Messages it may send at once before that."""
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
    credentials: File | None = None
    """A file with the credentials of a user, as nsc writes it."""
    authority: File | None = None
    """The certificate of the servers, where it is not one that this machine trusts anyway."""
    certificate: File | None = None
    """The certificate of this client, where the servers need one."""
    key: File | None = None
    """Its key."""


class VoiceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hearing and speaking aloud. Engines are named in order of preference: where one fails, the next takes over. A
    name is an engine's id, or that of an [engine.<name>] table.
    """

    stt: Names = ("faster-whisper",)
    """What turns speech into text."""
    tts: Names = ("hibari", "nanotts")
    """What turns text into speech. Each is asked for the languages it knows."""
    vad: Names = ("silero",)
    """What tells speech from silence."""
    wakeword: Names = ("microwakeword",)
    """What listens for the wake words of [wake.<name>]; without such a table, "hey jarvis"."""
    microphone: Names = ("sounddevice",)
    """Where sound comes from."""
    player: Names = ("sounddevice",)
    """Where sound goes to."""
    always_listening: Flag = False
    """Whether everything that is said is for the assistant, without a wake word."""
    wake_by_voice: Flag = False
    """Whether a wake word also ends sleep; else only somebody at the device can."""
    barge_in: Flag = True
    """Whether a wake word ends what is being said at once."""
    half_duplex: Flag = False
    """Whether only wake words are heard while something is played: for devices that would hear themselves."""
    silence: Seconds = 0.7
    """Seconds of silence after which a command is over."""
    no_speech: Seconds = 5.0
    """Seconds after which nobody is waited for any longer."""
    longest: Seconds = 30.0
    """Seconds after which a command is over in any case."""
    sentence_by_sentence: Flag = True
    """Whether the first sentence of an answer is heard while the next is being made."""
    earcons: Flag = True
    """Whether short sounds tell that somebody is listened to, and when that failed."""
    sound_folders: Files = ()
    """Folders whose sound files others on the bus may have played by naming them."""


class WakeTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A phrase that opens the ears. The name after the dot is yours to choose."""

    phrase: Name
    """The phrase as people say it."""
    model: Name | None = None
    """A model's name or path, where the phrase does not tell."""
    lang: Lang | None = None
    """The language in which whoever says it goes on."""
    persona: Name | None = None
    """Who is talked to."""
    threshold: Share | None = None
    """How sure the engine has to be."""


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
