"""The stop plugin (STOP-1): stops the most recent skill that has something to stop."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from hark.builtin.candidates import is_decided, is_denied, is_denied_skill, willing
from hark.intents import words
from hark.intents.locale import Locale, MissingResource, Renderer
from hark.model import Frozen, converse
from hark.model.frozen import EMPTY
from hark.model.session_codec import Handler, Handlers
from hark.plugins import Declined, Later, Match, Message, PipelinePlugin, Round, Session, Turn, handles
from hark.plugins.pipeline import ANY_LANGUAGE
from hark.spec import topics
from hark.spec.names import NOTHING_STOPPED

Kind = Literal["something", "everything"]

Phrases = frozenset[tuple[str, ...]]

_MOST_SOUNDING: Final = 1_000
"""Sessions that are remembered: any client can say that a sound began, and not that it ended."""
_LONGEST: Final = 12
"""An utterance with more words is about something else."""


class StopWords(NamedTuple):
    """The phrases of one language."""

    stop: Phrases
    everything: Phrases
    around: tuple[tuple[str, ...], ...]
    """Phrases that change nothing: please, now, hey. The longest first, so that "right now" leaves no "right"."""
    edges: frozenset[str]
    """The words these begin and end with: most utterances neither begin nor end with one."""


def stop_request(utterance: str, lang: str, exact: bool = True) -> Kind | None:
    """What an utterance asks to stop, if anything. `exact`: only if nothing else was said, politeness aside."""
    known = stop_words(lang)
    if known is None:
        return None
    said = words(utterance, lang)
    if not said or len(said) > _LONGEST:
        return None
    core = said
    if said[0] in known.edges or said[-1] in known.edges:
        core = _without(said, known.around)
    for spoken in (tuple(core), tuple(said)):
        if spoken in known.everything:
            return "everything"
        if spoken in known.stop:
            return "something"
    if exact:
        return None
    if _begins_or_ends(core, known.everything):
        return "everything"
    return "something" if _begins_or_ends(core, known.stop) else None


def _begins_or_ends(said: list[str], phrases: Phrases) -> bool:
    return any(tuple(said[: len(one)]) == one or tuple(said[-len(one) :]) == one for one in phrases)


def _without(said: list[str], around: tuple[tuple[str, ...], ...]) -> list[str]:
    """The words without the phrases that change nothing at their beginning and end."""
    trimmed = True
    while trimmed:
        trimmed = False
        for phrase in around:
            size = len(phrase)
            if size < len(said) and tuple(said[:size]) == phrase:
                said, trimmed = said[size:], True
                break
            if size < len(said) and tuple(said[-size:]) == phrase:
                said, trimmed = said[:-size], True
                break
    return said


@lru_cache(maxsize=64)
def stop_words(lang: str) -> StopWords | None:
    try:
        around = sorted(_locale().phrases("around", lang), key=len, reverse=True)
        edges = frozenset(word for phrase in around for word in (phrase[0], phrase[-1]))
        return StopWords(_locale().phrases("stop", lang), _locale().phrases("everything", lang), tuple(around), edges)
    except MissingResource:
        return None


@cache
def _locale() -> Locale:
    return Locale(Path(__file__).parent / "locale")  # when it is first needed, not when this is imported


_MOMENT: Final = 10.0
"""Seconds after the end of a sound in which a stop is about that sound."""
_STOP = "stop"
_GLOBAL = "global_stop"


class Stop(PipelinePlugin):
    """Recognises requests to stop, and finds the skill to stop.

    A pipeline entry may set the mode: "exact" (the default) matches utterances that say nothing else, "loose" also
    those that begin or end with a request to stop.
    """

    id = "stop"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        window: float = 0.5
        """Seconds that skills have to say whether they have something to stop; with more than 1 users wait too long."""
        answers: bool = True
        """Whether it says so when there is nothing to stop."""

    settings: Settings

    def __init__(self) -> None:
        self._sounding: dict[str, float | None] = {}
        """Sessions in which something is heard at the moment (None), or was: when that ended."""
        self._ringing: dict[str, set[str]] = {}
        """The scheduled calls that run, by session."""

    async def start(self) -> None:
        self._renderer = Renderer(_locale(), self.host.lang)
        self.host.on(topics.AUDIO_OUTPUT_STARTED, self._sound_started)
        self.host.on(topics.AUDIO_OUTPUT_ENDED, self._sound_ended)
        self.host.on(topics.SCHEDULED_CALL, self._scheduled)

    def _sound_ended(self, message: Message) -> None:
        if message.session_id in self._sounding:
            self._sounding[message.session_id] = self.host.clock.monotonic()

    def _sound_started(self, message: Message) -> None:
        self._sounding.pop(message.session_id, None)
        self._sounding[message.session_id] = None
        if len(self._sounding) > _MOST_SOUNDING:
            del self._sounding[next(iter(self._sounding))]

    def _scheduled(self, message: Message) -> None:
        """A call that was scheduled began or ended: an alarm rings."""
        calls = self._ringing.setdefault(message.session_id, set())
        call = str(message.data.get("call"))
        calls.add(call) if message.data.get("runs") else calls.discard(call)
        if not calls:
            del self._ringing[message.session_id]

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined | Later | None:
        """A stop of one skill, or of everything in the session."""
        exact = round is None or _is_exact(round)
        kind: Kind | None = None
        said = ""
        for said in utterances:
            kind = stop_request(said, lang, exact)
            if kind is not None:
                break
        if kind is None:
            return None
        running = tuple(one for one in session.active_handlers if one.skill_id != self.id)
        if kind == "something" and self._is_followed_up(said, session, running, round):
            return Declined("the skill that was active last has an intent for this")
        if kind == "everything" or not running:
            slots = self._idle(lang, session) if kind == "something" else EMPTY
            return self._stop_everything(said, lang, session, round, slots)
        if round is None:
            allowed = [one for one in converse.by_recency(running) if not is_denied(session, one.skill_id, _STOP)]
            return self._stop_one(allowed, said, lang, session)
        return Later(lambda: self._ask(round, converse.by_recency(running), said, lang, session))

    def _is_followed_up(self, said: str, session: Session, running: Handlers, round: Round | None) -> bool:
        """Whether "cancel it" takes back what was asked for last: nothing is to be heard that could be stopped, and the
        skill that was active last has an intent for just these words."""
        if round is None or not running or not self._is_quiet(session):
            return False
        match = round.would_match(said, strict=True)
        return match is not None and match.skill_id == converse.by_recency(running)[0].skill_id

    def _is_quiet(self, session: Session) -> bool:
        """Whether nothing is heard, rings or waits for an answer in a session."""
        here = session.session_id
        return session.response_mode is None and self._sounding.get(here, 0.0) is not None and here not in self._ringing

    def _was_just_heard(self, session: Session) -> bool:
        """Whether something was heard a moment ago: a wake word ends it before the stop is understood."""
        ended = self._sounding.get(session.session_id)
        return ended is not None and self.host.clock.monotonic() - ended < _MOMENT

    def _idle(self, lang: str, session: Session) -> Frozen:
        """The slot with what is to be said if nothing was under way, where that is known."""
        if self.settings.answers and self._is_quiet(session) and not self._was_just_heard(session):
            with suppress(MissingResource):
                return Frozen({NOTHING_STOPPED: self._renderer.render("nothing", lang).text})
        return EMPTY

    @handles(_GLOBAL)
    def everything(self, turn: Turn) -> str | None:
        """Ask all skills to stop what they do in this session."""
        turn.emit(topics.STOP)
        return turn.slots.get(NOTHING_STOPPED)

    async def _ask(self, round: Round, running: Handlers, said: str, lang: str, session: Session) -> Match | Declined:
        """Stop the most recent of the skills that say they can be stopped; if none does, the most recent of all."""
        asked = [one.skill_id for one in running if not is_denied_skill(session, one.skill_id, round)]
        allowed = [one for one in running if not is_denied(session, one.skill_id, _STOP, round)]
        order = [one.skill_id for one in allowed]
        answers = await round.poll(
            topics.STOP_PING,
            {},
            asked,
            self.settings.window,
            enough=lambda so_far: is_decided(order, so_far),
            look_after=None if order else 0.0,  # there is no answer to wait for
        )
        busy = [one for one in allowed if one.skill_id in willing(answers)]
        slots = EMPTY if busy else self._idle(lang, session)
        return self._stop_one(busy or allowed, said, lang, session, slots)

    def _stop_one(
        self, running: Sequence[Handler], said: str, lang: str, session: Session, slots: Frozen = EMPTY
    ) -> Match | Declined:
        if not running:
            return Declined("this session denies every skill that could be stopped")
        target = running[0].skill_id
        left = [other for other in session.active_handlers if other.skill_id != target]
        updated = session.trusted(active_handlers=tuple(left))
        mode = session.response_mode
        if mode is not None and mode.skill_id == target:
            updated = updated.without("response_mode")
        return Match(target, _STOP, lang, said, slots, updated_session=updated)

    def _stop_everything(
        self, said: str, lang: str, session: Session, round: Round | None, slots: Frozen
    ) -> Match | Declined:
        if is_denied(session, self.id, _GLOBAL, round):
            return Declined("this session may not stop everything")
        updated = session.without("active_handlers", "converse_handlers", "response_mode")
        return Match(self.id, _GLOBAL, lang, said, slots, updated_session=updated)

    def known_intents(self, session_id: str) -> list[dict[str, str]]:  # noqa: ARG002 - the same for all
        """Whose `stop` it is is decided when something is said."""
        return [{"skill_id": self.id, "intent_name": name, "lang": ANY_LANGUAGE} for name in (_STOP, _GLOBAL)]


def _is_exact(round: Round) -> bool:
    mode = round.config.get("mode", "exact")
    if mode not in ("exact", "loose"):
        raise ValueError(f'[pipeline.{round.entry}] mode is "exact" or "loose", not {mode!r}')
    return bool(mode == "exact")
