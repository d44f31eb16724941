"""The matchers of registered intents: by templates and by keywords (INTENT-4)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

from msgspec import Meta

from hark.builtin.candidates import denied
from hark.intents import LOOSE, NORMAL, STRICT, Found, Overlap, Rejected, TemplatePool, explain, lookup, overlaps
from hark.intents.keyword import DEFAULT_FLOOR, KeywordPool, lookup_keywords
from hark.intents.pool import Pool
from hark.intents.sentence_model import LANGUAGE, MissingModel, SentenceModel, SentenceVectors, missing_model
from hark.intents.template import ALONE, Steps, Theft, overlap_steps, theft_steps, thefts
from hark.plugins import Declined, Later, Match, Message, PipelinePlugin, Round, Session
from hark.spec import topics

T = TypeVar("T")
Share = Annotated[float, Meta(ge=0, le=1)]

_WRITTEN: Final = 2.0
"""A score that nothing has which is only similar."""
_SLICE: Final = 0.005
"""Seconds for which intents are compared before turns go on."""
_LOGGED_FIELDS: Final = ("skill_id", "intent_name", "entity_name", "lang")
_AT_ONCE: Final = 0.004
"""Seconds of reading registrations before other work has its turn."""


def _with_denials(session: Session, round: Round | None) -> Session:
    """The session with what the deployment denies in `round` among its own denials: for looking up intents."""
    if round is None or not round.denied:
        return session
    fields = [field for field in ("blacklisted_skills", "blacklisted_intents") if round.denied.get(field)]
    return session.trusted(**{field: tuple(denied(session, field, round)) for field in fields}) if fields else session


class RegisteredMatcher(PipelinePlugin):
    """Applies the registrations on the bus (INTENT-4) to a pool. A subclass creates the pool, and matches.

    What is registered while the assistant starts is only collected: compiling the sentences of all skills takes longer
    than the rest of the start. It is read when the assistant is ready, by `prepare`. What is registered later is read
    at once.
    """

    method: ClassVar[Literal["keyword", "template"]]
    """The one method of definition it accepts (INTENT-3 §6.2)."""
    modes: ClassVar[Mapping[str, float]]
    """The modes of a pipeline entry, and the floor of each."""
    preview = True

    @dataclass(frozen=True)
    class Settings:
        protect_skills: bool = True
        """Whether only the skill itself may deregister it."""
        floor: Share = 0.0
        """The score, 0 to 1, that an intent has to reach; a pipeline entry may set its own."""

    settings: Settings

    def __init__(self, pool: Pool[Any, Any]) -> None:
        self._registered = pool
        # Registrations are applied inline as a rule, but one that takes long may be moved to a worker thread.
        self._writing = Lock()
        self._logged: set[str] = set()
        self._early: deque[Message] | None = None
        """What was registered during the start and is not read yet; None once all of it is."""

    async def start(self) -> None:
        # Registrations of the other method are rejected by not subscribing to them.
        self.host.log.info("accepts %s registrations and no others", self.method)
        self._early = deque()
        self.host.on(self._registered.consumed, self._registration)

    async def stop(self) -> None:
        self._early = None

    def known_intents(self, session_id: str) -> Iterator[Mapping[str, str]]:
        """What is registered for the session, disabled or not."""
        self.read_all()
        for intent in self._registered.intents(session_id):
            yield {"skill_id": intent.skill_id, "intent_name": intent.intent_name, "lang": intent.lang}

    def floor(self, round: Round | None) -> float:
        """The score to reach in this round: by the entry's `floor`, or its `mode`, or else the settings.

        A wrong value in an entry is logged once and ignored.
        """
        if round is None or not round.config:
            return self.settings.floor
        mode, floor = round.config.get("mode"), round.config.get("floor")
        if floor is not None:
            if isinstance(floor, (int, float)) and not isinstance(floor, bool) and 0 <= floor <= 1:
                return float(floor)
            self._log_once(round.entry, f"floor {floor!r} is no number from 0 to 1")
        if mode is not None:
            if isinstance(mode, str) and mode in self.modes:
                return self.modes[mode]
            self._log_once(round.entry, f"mode {mode!r} is none of: {', '.join(self.modes)}")
        return self.settings.floor

    def _log_once(self, entry: str, wrong: str) -> None:
        if entry not in self._logged:
            self._logged.add(entry)
            self.host.log.warning("[pipeline.%s]: %s; it is ignored", entry, wrong)

    def read_all(self) -> None:
        """Read now what was registered during the start."""
        with self._writing:
            while self._early:
                self._apply(self._early.popleft())
            self._early = None

    def prepare(self) -> bool:
        until = time.monotonic() + _AT_ONCE
        with self._writing:
            while self._early and time.monotonic() < until:
                self._apply(self._early.popleft())
            self._early = self._early or None
        return self._early is not None

    def _registration(self, message: Message) -> None:
        with self._writing:
            if self._early is None:
                self._apply(message)
            else:
                self._early.append(message)

    def _apply(self, message: Message) -> None:
        if not self._is_allowed(message):
            return
        try:
            skipped = self._registered.apply(message.type, message.data, message.session_id)
        except Rejected as error:
            self._warn(message, str(error))
        else:
            for item, reason in skipped:
                self._warn(message, reason, item)

    def _is_allowed(self, message: Message) -> bool:
        """Whether the sender may change the target; only removing a whole skill is reserved to itself (ruling R12)."""
        source, target = message.context.get("skill_id"), message.data.get("skill_id")
        if source is None or source == target:
            return True
        if message.type == topics.SKILL_DEREGISTER and self.settings.protect_skills:
            self.host.log.warning("%s: %r may not remove the skill %r", message.type, source, target)
            return False
        self.host.log.debug("%s: sent by %r for %r", message.type, source, target)
        return True

    def _warn(self, message: Message, reason: str, item: str | None = None) -> None:
        """Log a rejection or a skipped item, with its parts as fields (INTENT-4 §5.3)."""
        fields: dict[str, Any] = {name: message.data[name] for name in _LOGGED_FIELDS if name in message.data}
        fields |= {"topic": message.type, "reason": reason} | ({} if item is None else {"item": item})
        parts = ", ".join(f"{name} {value!r}" for name, value in fields.items() if name not in ("topic", "reason"))
        verdict = "rejected" if item is None else "skipped an item"
        self.host.log.warning("%s: %s (%s): %s", message.type, verdict, parts, reason, extra=fields)


class TemplateMatcher(RegisteredMatcher):
    """Matches utterances that fit a registered sentence as written, or are similar to one (INTENT-4).

    A pipeline entry may set `floor`, or `mode` to "strict" (as written, nothing unexplained), "exact" (what "normal"
    takes as written), "normal" (claims one unrelated
    sentence in twenty) or "loose" (one in ten).
    """

    id = "template"
    quick = True
    method = "template"
    modes = {"strict": STRICT, "exact": NORMAL, "normal": NORMAL, "loose": LOOSE}

    @dataclass(frozen=True)
    class Settings(RegisteredMatcher.Settings):
        floor: Share = NORMAL
        """The score, 0 to 1, that an intent has to reach; 1 is a sentence as written. A pipeline entry may say
        otherwise."""
        sentence_model: bool = False
        """Whether a sentence model is asked about English utterances that the words alone leave unsure; it needs the
        extra sentence-model."""

    settings: Settings

    def __init__(self) -> None:
        self._pool = TemplatePool()
        self._overlaps: list[Overlap] | None = None
        self._thefts: list[Theft] | None = None
        self._comparing = asyncio.Lock()
        self._is_changed = False
        """Whether anything was registered since a comparison began."""
        self._vectors: SentenceVectors | None = None
        super().__init__(self._pool)

    async def start(self) -> None:
        if self.settings.sentence_model:
            try:
                model = await asyncio.to_thread(SentenceModel)
            except MissingModel as error:
                self.host.log.warning("[plugins.template] sentence_model: %s; matching goes on without it", error)
            else:
                self._vectors = SentenceVectors(model, self._folder())
        await super().start()

    def _folder(self) -> Path | None:
        try:
            return self.host.data_dir / "sentences"
        except RuntimeError:  # this assistant keeps nothing on disk
            return None

    def _apply(self, message: Message) -> None:
        self._outdate()
        super()._apply(message)

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined | Later:
        """The first candidate that fits something the session can reach.

        Any candidate that fits as written comes before one that is like something.
        """
        if self._early is not None:
            self.read_all()
        floor = self.floor(round)
        session = _with_denials(session, round)
        reason = ""
        is_written = round is not None and round.config.get("mode") == "exact"
        is_asked = (
            self._vectors is not None
            and floor < STRICT
            and not is_written
            and lang.partition("-")[0].lower() == LANGUAGE
        )
        alone = _WRITTEN if is_written else ALONE if is_asked else 0.0
        for least in (STRICT, floor) if len(utterances) > 1 and floor < STRICT else (floor,):
            reason = ""
            for utterance in utterances:
                found = lookup(self._pool, utterance, lang, session, self.host.clock.wall, least, alone=alone)
                if isinstance(found, Found):
                    return _match(found, utterance, least)
                reason = reason or found
        if is_asked:
            return Later(lambda: asyncio.to_thread(self._by_meaning, utterances, lang, session, floor))
        return Declined(reason)

    def _by_meaning(self, utterances: Sequence[str], lang: str, session: Session, floor: float) -> Match | Declined:
        reason = ""
        with self._writing:  # registrations wait: this is no longer the thread of the bus
            for utterance in utterances:
                now = self.host.clock.wall
                found = lookup(self._pool, utterance, lang, session, now, floor, alone=ALONE, vectors=self._vectors)
                if isinstance(found, Found):
                    return _match(found, utterance, floor)
                reason = reason or found
        return Declined(reason)

    def sentence_model(self) -> str:
        """Whether the sentence model is installed and in use, in one line."""
        if self._vectors is not None:
            return f"in use, for utterances in {LANGUAGE} that the words leave unsure"
        lacking = missing_model()
        if self.settings.sentence_model:
            return f"not loaded: {lacking or 'see the log'}"
        there = "not installed" if lacking else "installed"
        return f"off, {there}; [plugins.template] sentence_model = true turns it on"

    def explain(self, utterance: str, lang: str, session: Session) -> list[str]:
        """What came of comparing a sentence with all intents, as lines of text."""
        self.read_all()
        return explain(self._pool, utterance, lang, session, self.host.clock.wall, self.settings.floor).lines()

    def _outdate(self) -> None:
        self._overlaps = self._thefts = None
        self._is_changed = True

    async def compare(self) -> None:
        """Look for overlaps and thefts, a few milliseconds at a time: with thousands of intents that takes seconds.

        What was found holds for a report that is made at once, though something may be registered meanwhile.
        """
        async with self._comparing:
            self.read_all()
            if self._overlaps is not None and self._thefts is not None:
                return
            self._is_changed = False
            found = await _in_slices(overlap_steps(self._pool))
            stolen = await _in_slices(theft_steps(self._pool, self.host.clock.wall))
            self._overlaps, self._thefts = found, stolen
            if self._is_changed:
                asyncio.get_running_loop().call_soon(self._outdate)

    def overlaps(self) -> list[Overlap]:
        """Sentences that fit intents of two skills; looked for once after a registration, since it takes long."""
        self.read_all()
        if self._overlaps is None:
            self._overlaps = overlaps(self._pool)
        return self._overlaps

    def thefts(self) -> list[Theft]:
        """Intents that get sentences of other intents; looked for once after a registration as well."""
        self.read_all()
        if self._thefts is None:
            self._thefts = thefts(self._pool, self.host.clock.wall)
        return self._thefts


async def _in_slices(steps: Steps[T]) -> T:
    began = time.thread_time()
    while True:
        try:
            next(steps)
        except StopIteration as over:
            result: T = over.value
            return result
        spent = time.thread_time() - began
        if spent >= _SLICE:
            await asyncio.sleep(spent)  # turns have half of the time, at least
            began = time.thread_time()


def _match(found: Found, utterance: str, floor: float) -> Match:
    intent = found.intent
    if found.score == 1.0:
        note = ""
    elif floor == STRICT:
        note = f"as written, score {found.score:.2f}"
    else:
        note = f"score {found.score:.2f}, {floor:.2f} needed"
    return Match(intent.skill_id, intent.intent_name, intent.lang, utterance, found.slots, note=note)


class KeywordMatcher(RegisteredMatcher):
    """Matches utterances with all the vocabularies that a registered intent requires (INTENT-4).

    A pipeline entry may set `floor`, or `mode` to "strict", "normal" or "loose".
    """

    id = "keyword"
    quick = True
    method = "keyword"
    modes: ClassVar[Mapping[str, float]] = {"strict": 0.5, "normal": DEFAULT_FLOOR, "loose": 0.0}

    @dataclass(frozen=True)
    class Settings(RegisteredMatcher.Settings):
        floor: Share = DEFAULT_FLOOR
        """The share of the words, 0 to 1, that an intent has to explain; a pipeline entry may set its own."""

    settings: Settings

    def __init__(self) -> None:
        self._pool = KeywordPool()
        super().__init__(self._pool)

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined:
        """The first candidate that means something the session can reach."""
        if self._early is not None:
            self.read_all()
        floor, reason = self.floor(round), ""
        session = _with_denials(session, round)
        for utterance in utterances:
            found = lookup_keywords(self._pool, utterance, lang, session, self.host.clock.wall, floor)
            if not isinstance(found, str):
                intent = found.intent
                return Match(intent.skill_id, intent.intent_name, intent.lang, utterance, found.slots)
            reason = reason or found
        return Declined(reason)
