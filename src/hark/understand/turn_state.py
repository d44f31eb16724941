"""One utterance on its way through: what is known of it at this moment, and how it is taken in."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Mapping
from itertools import count
from typing import Any, Final

import msgspec

from hark.chains import Flow
from hark.model import Frozen, Message, Session, converse, encode
from hark.model.frozen import EMPTY, Sealed
from hark.model.intent_context import IntentContext
from hark.model.session_merge import (
    LARGEST_SESSION,
    Denials,
    SessionChanges,
    bounded,
    fold,
    joined,
    known_fields,
    lasting,
    of_ovos_client,
    restored,
    size_of,
    three_way_merge,
)
from hark.spec.names import CANCEL_KEYS, CLIENT, DENYLISTS, FOR_TURN, SESSION_ID, TRACE_KEEP, UTTERANCE_ID
from hark.trace import TraceStore, TurnTrace
from hark.understand.ovos_entries import is_ovos_name, ovos_entry

log = logging.getLogger("hark.understand")

INTENT: Final = "intent"
"""The key in the data of `ovos.utterance.handle` that calls an intent by its name."""


class DefaultSession:
    """Holds the default session between utterances; `save` is shown it after each end marker and each question.

    What holds for one utterance only (ruling R16) is in the sessions that go in and out, but never in `current`.
    """

    owned = True
    """Whether it is held here; where several workers share the work, one of them holds it."""

    def __init__(
        self,
        restored: Session | None = None,
        save: Callable[[Session], None] | None = None,
        largest: int = LARGEST_SESSION,
    ) -> None:
        self.largest = largest
        """Bytes that it may have."""
        # An open question dies with the process that asked it.
        self.current = self.cleaned(restored or Session()).without("response_mode")
        self._save = save

    def open(self, carrier: Session) -> Session:
        """Fold what an utterance carries into the store; the session to work on."""
        kept = lasting(carrier)
        for one in (kept, known_fields(kept)):
            folded = fold(self.current, one)
            if size_of(folded) <= self.largest:
                self.current = folded
                break
            log.warning("the default session would have more than %d bytes: not everything is kept", self.largest)
        return joined(self.current, carrier)

    def bring(self, base: Session, now: Session) -> Session:
        """Bring what changed from `base` to `now` to the store; the session to work on as it is then."""
        if base is not now:
            merged = three_way_merge(self.current, lasting(base), lasting(now))
            if merged is not self.current and size_of(merged) > self.largest:
                log.warning("the default session would have more than %d bytes: it stays as it was", self.largest)
            else:
                self.current = merged
        return joined(self.current, now)

    def working(self, session: Session) -> Session:
        """The session to work on for an utterance whose session was `session`, and is in the store already."""
        return joined(self.current, session)

    def cleaned(self, stored: Session) -> Session:
        """What counts of a session that was stored, perhaps before ruling R16."""
        kept = lasting(stored)
        if kept is not stored:
            names = ", ".join(name for name in stored if name not in kept)
            log.warning("the stored session held %s, which only the settings can set for good: left out", names)
        small = bounded(kept, self.largest)
        if small is not kept:
            log.warning("the stored session has more than %d bytes: not all of it is used", self.largest)
        return small

    def has_applied(self, utterance_id: str) -> bool:  # noqa: ARG002 - see StoredSession
        """Whether what comes of a turn is in the store, although the turn has not ended."""
        return False

    def reset(self) -> None:
        """Forget everything; turns under way bring only what they change from now on."""
        self.current = Session()
        self.saved()

    def saved(self) -> None:
        """A turn ended, or asked something: let the present state be written down."""
        if self._save is not None:
            self._save(self.current)


_DENYLISTS: Final = frozenset(DENYLISTS)
_NOTHING_DENIED: Final = Denials()


class PipelineEntry(msgspec.Struct, frozen=True):
    """What a pipeline entry stands for: a plugin, and its configuration at this place."""

    plugin: str
    config: Frozen = EMPTY


class TurnOptions(msgspec.Struct, frozen=True):
    """The deployment's answers to everything a session leaves open."""

    lang: str = "en-US"
    """The language of an utterance that shows no other."""
    langs: frozenset[str] = frozenset({"en-US"})
    """Every enabled language, in canonical case."""
    pipeline: tuple[str, ...] = ()
    """The entries asked when the session names none, in order."""
    entries: Mapping[str, PipelineEntry] = {}
    """Entries that are more than a plugin's id."""
    denylists: Mapping[str, tuple[str, ...]] = {}
    """What is denied to every session, whatever it carries (ruling R21), by session field."""
    protect_skills: bool = True
    """Whether only a skill itself may deregister it (ruling R12)."""
    max_open_turns: int = 1_000
    max_client_turns: int = 200
    """Open turns of one client on the bus."""
    max_session: int = LARGEST_SESSION
    """Bytes that a session may have."""
    max_utterance: int = 10_240
    """Bytes that an utterance may have, all its candidates together."""
    max_candidates: int = 20
    """Candidates that it may have."""
    accept_within: float = 2.0
    """Seconds in which a handler must take a dispatch."""
    handler_limit: float | None = None
    """Seconds a handler may take; None leaves it all the time it wants."""
    quiet: float = 10.0
    """Seconds after the last Message of a program outside that never says when a handler has ended: it has then."""
    absent: frozenset[str] = frozenset()
    """Skills whose program is not connected; they are among the denied ones."""
    beat: float = 2.0
    """Seconds between two signs of life of a handler host; three missed ones and it is lost."""
    converse_cap: int = converse.CAP
    """How many handlers of a session may be offered the next utterance."""
    converse_ttl: float | None = converse.TTL
    """Seconds for which they are; None keeps them until there are too many."""
    context_topics: bool = True
    """Whether skills may remember and forget by `ovos.context.set`, `.unset` and `.clear`."""
    grace: float = 5.0
    """Seconds that open turns are given at shutdown."""

    def entry(self, name: str, is_loaded: Callable[[str], bool] | None = None) -> PipelineEntry:
        """What an entry of the pipeline stands for: what the settings say, a loaded plugin, or one of OVOS (R17)."""
        named = self.entries.get(name)
        if named is not None:
            return named
        same = None if is_loaded is not None and is_loaded(name) else ovos_entry(name)
        return PipelineEntry(name) if same is None else PipelineEntry(same[0], Frozen(same[1]))

    def without(self, absent: frozenset[str]) -> TurnOptions:
        """The same, with these skills denied because their programs are not connected."""
        if not absent:
            return self
        skills = (*self.denylists.get("blacklisted_skills", ()), *sorted(absent))
        denylists = {**self.denylists, "blacklisted_skills": skills}
        return msgspec.structs.replace(self, absent=absent, denylists=denylists)

    def is_of_ovos_client(self, carrier: Session) -> bool:
        """Whether a carrier is of an OVOS client, which has its configuration in every Message (ruling R16)."""
        return any(is_ovos_name(name) and name not in self.entries for name in carrier.pipeline or ())

    def denials_for(self, session: Session) -> Denials:
        """The denylists in force for a session: its own and the deployment's together."""
        if _DENYLISTS.isdisjoint(session):
            return self._deployed
        return Denials(Denials.of(session).lists, Sealed(self.denylists))

    @property
    def _deployed(self) -> Denials:
        return Denials(deployed=Sealed(self.denylists)) if self.denylists else _NOTHING_DENIED


class TurnState:
    """What is known of one utterance at this moment. Only its own turn writes here."""

    __slots__ = (
        "base",
        "client",
        "denials",
        "dispatch",
        "ended",
        "is_applied",
        "lang",
        "lasting",
        "message",
        "pruned",
        "session",
        "size",
        "synced",
        "trace",
        "utterances",
    )

    def __init__(
        self, message: Message, utterances: tuple[str, ...], session: Session, denials: Denials, trace: TurnTrace
    ) -> None:
        self.message = message
        """The entry Message as the chains have left it so far, its session apart."""
        self.utterances = utterances
        self.session = session
        """The working session."""
        self.denials = denials
        self.trace = trace
        self.client = ""
        """The client on the bus that it came from, as far as turns are counted by client."""
        self.size = 0
        """Bytes of the entry Message, of a client's: it is held until the turn has ended."""
        self.lang: str | None = None
        """The language of the utterance, once it is resolved."""
        self.pruned: IntentContext = EMPTY
        """The intent context every matcher of this round sees."""
        self.synced = session
        """The session as it was last brought to the store of the default session."""
        self.lasting: Frozen = EMPTY
        """The session fields that hold for this turn alone, each with the value it has afterwards, or None."""
        self.base = session
        """The session the handler's changes are counted from: as it was called with, or as it last showed."""
        self.dispatch: Message | None = None
        """The call of the handler, once there is one."""
        self.ended = False
        """Whether the end marker was emitted."""
        self.is_applied = False
        """Whether the default session has what comes of this turn already: then it must not be applied again."""

    @property
    def utterance_id(self) -> str:
        """The id of this turn."""
        return self.trace.utterance_id

    def called(self, dispatch: Message, base: Session) -> None:
        """The handler is about to be called with `base` as its session, or was."""
        self.dispatch = dispatch
        self.base = base

    def wrote(self, session: Session, skill_id: str) -> SessionChanges | None:
        """Take over what the handler changed since it last showed its session; the changes."""
        writes = SessionChanges.between(self.base, session, skill_id)
        self.base = session
        if writes is not None:
            self.session = writes.applied_to(self.session)
            if self.lasting:  # what the handler writes lasts
                written = {*writes.fields, *writes.removed}
                self.lasting = Frozen({name: value for name, value in self.lasting.items() if name not in written})
        return writes

    def after(self, session: Session) -> Session:
        """`session` as it is when the turn is over: without what holds for this turn alone."""
        return restored(session, self.lasting)

    def answered(self) -> None:
        """The question that was open in this session is answered: this turn must not open it again."""
        self.session = self.session.without("response_mode")

    def current(self) -> Message:
        """The entry Message with the working session."""
        return self.message.carrying(self.session)

    def flow(self, artifact: object, lang: str | None) -> Flow:
        """What goes into a chain."""
        return Flow(artifact, lang, self.message, self.session, self.denials)

    def take(self, flow: Flow) -> None:
        """What comes out of a chain: context, session and denylists as its transformers left them."""
        self.message = self.message.within(flow.context, None)
        if self.session is flow.base or flow.session.session_id != flow.base.session_id:
            self.session = flow.session
        else:  # a Message on `ovos.context.*` came while the chain ran
            self.session = three_way_merge(self.session, flow.base, flow.session)
        self.denials = flow.denials
        if flow.for_turn:
            self.lasting = Frozen(flow.for_turn, **self.lasting)


_CANCEL_KEYS: Final = frozenset(CANCEL_KEYS)
_NEEDED: Final = ("utterances", INTENT)
"""What of the data has bounds of its own."""
_encode: Final = msgspec.json.Encoder().encode

# Unique in the deployment by the process, in the process by a count: a random id for each turn costs more.
_PROCESS: Final = os.urandom(6).hex()
_numbers = count(1)


def open_turn(
    entry: Message, options: TurnOptions, store: DefaultSession, traces: TraceStore, utterance_id: str = ""
) -> TurnState:
    """The turn that an entry Message opens. Whatever is wrong with the Message, it gets one, and so its end."""
    utterance_id = utterance_id or f"{_PROCESS}-{next(_numbers)}"
    # All that comes of the turn has the context.
    data = _within(entry.data, options.max_session, _NEEDED)
    context = Frozen(_within(entry.context, options.max_session), **{UTTERANCE_ID: utterance_id})
    if not _CANCEL_KEYS.isdisjoint(context):
        log.warning("an utterance arrived with keys of a cancellation, which only a transformer may cause")
        context = Frozen({key: value for key, value in context.items() if key not in _CANCEL_KEYS})
    client = context.get(CLIENT)
    if client is not None:
        context = Frozen({key: value for key, value in context.items() if key != CLIENT})
    carrier = entry.session or Session()
    session = bounded(carrier, options.max_session)
    if session is not carrier:
        log.warning(
            "an utterance came with a session of more than %d bytes: not all of it is used", options.max_session
        )
    is_applied = session.is_default and store.has_applied(utterance_id)
    for_turn, lasting = session, EMPTY
    if FOR_TURN in context:
        session, for_turn, lasting = _for_turn(session, context[FOR_TURN])
        context = Frozen({key: value for key, value in context.items() if key != FOR_TURN})
    if session.is_default and entry.malformed_session is None:
        if options.is_of_ovos_client(session):
            session = of_ovos_client(session)
        session = store.working(session) if is_applied else store.open(session)
    if lasting:
        lasting = Frozen({name: session.get(name) for name in lasting}) if session.is_default else lasting
        session = session.taking(for_turn, lasting)
    utterances, fault = _texts(entry, options)
    trace = traces.begin(utterance_id, session.session_id, utterances)
    if fault:
        log.warning("an utterance was not looked at: %s", fault)
        trace.step("utterance", "intake", "skipped", 0.0, fault)
    if TRACE_KEEP in entry.context:
        trace.limit(entry.context[TRACE_KEEP])
    message = (entry if data is entry.data else entry.with_data(data)).within(context, None)
    turn = TurnState(message, utterances, session, options.denials_for(session), trace)
    turn.is_applied = is_applied
    if client is not None:
        turn.client = str(client)
        turn.size = len(encode(entry))
    turn.lasting = lasting
    return turn


def _within(values: Frozen, most: int, needed: Collection[str] = ()) -> Frozen:
    """The values that have no more than `most` bytes together, besides those `needed`: what comes first is kept."""
    if len(_encode(values)) <= most:
        return values
    log.warning("an utterance came with more than %d bytes of data or context: not all of it is used", most)
    kept: dict[str, Any] = {}
    left = most
    for name, value in values.items():
        size = 0 if name in needed else len(_encode({name: value}))
        if size <= left:
            left -= size
            kept[name] = value
    return Frozen(kept)


def _for_turn(carrier: Session, fields: object) -> tuple[Session, Session, Frozen]:
    """A carrier with the lasting values of what an audio transformer set for this turn, the carrier, and the values."""
    if not isinstance(fields, Frozen) or SESSION_ID in fields:
        return carrier, carrier, EMPTY
    before = Session.read(Frozen({name: value for name, value in fields.items() if value is not None}))
    lasting = Frozen({name: before.get(name) for name in fields})
    kept = carrier.without(*fields) if carrier.is_default else carrier.taking(before, fields)
    return kept, carrier, lasting


def _texts(entry: Message, options: TurnOptions) -> tuple[tuple[str, ...], str]:
    """What was said; or nothing, so that nothing is matched, and why."""
    texts = entry.data.get("utterances")
    if not isinstance(texts, tuple) or not all(isinstance(text, str) for text in texts):
        return (), f"its utterances are no list of texts but {type(texts).__name__}"
    size = sum([len(text.encode("utf-8", "surrogatepass")) for text in texts])
    if len(texts) > options.max_candidates or size > options.max_utterance:
        return (), f"it has more than {options.max_candidates} candidates or {options.max_utterance} bytes"
    return texts, ""
