"""Faults that tamper with session and context, and that forge what only the frame may say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from hark.model import Match, Message, Session
from hark.plugins import Ctx
from hark.spec import RESERVED_INTENT_NAMES, topics
from hark.spec.names import (
    CANCEL_BY,
    CANCEL_REASON,
    CANCELED,
    DENYLISTS,
    SESSION,
    STAMP_KEYS,
    TRANSFORMER_PREFERENCES,
    UTTERANCE_ID,
)
from hark.testing.faults.plugin import CHAINS, Behaviour, CallSite, behaviour, behaviours_in
from hark.testing.faults.wrong_values import hostile_session


@behaviour(points=CHAINS, shows="tame")
def drops_the_denylists(grip: CallSite) -> Any:
    """Takes every denylist off the session."""
    if grip.ctx is not None:
        grip.ctx.session = grip.ctx.session.without(*DENYLISTS)
    return grip.tame


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_without_denylists(grip: CallSite) -> Any:
    """Claims with a session that has lost its denylists and preferences."""
    session = grip.session or Session()
    updated = session.without(*DENYLISTS, *TRANSFORMER_PREFERENCES)
    return Match("tame", "answer", grip.lang, grip.artifact[0], updated_session=updated)


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_with_another_session(grip: CallSite) -> Any:
    """Claims with the session of somebody else."""
    return Match("tame", "answer", grip.lang, grip.artifact[0], updated_session=Session("somebody-else"))


@behaviour(points=CHAINS, shows="tame", diverts=True)
def moves_to_another_session(grip: CallSite) -> Any:
    """Puts somebody else's session in the place of the turn's."""
    if grip.ctx is not None:
        grip.ctx.session = Session("somebody-else", blacklisted_skills=["tame"])
    return grip.tame


@behaviour(points=CHAINS, shows="tame", diverts=True)
def moves_to_the_device(grip: CallSite) -> Any:
    """Puts an empty session of the device itself in the place of the turn's."""
    if grip.ctx is not None:
        grip.ctx.session = Session()
    return grip.tame


@behaviour(points=CHAINS, shows="malformed")
def sets_a_session_of_its_own_making(grip: CallSite) -> Any:
    """Sets a session of a subclass that raises when it is read."""
    if grip.ctx is not None:
        grip.ctx.session = hostile_session(grip.ctx.session)
    return grip.tame


@behaviour(points=CHAINS)
def sets_garbage_as_session(grip: CallSite) -> Any:
    """Sets a dict where a session belongs."""
    if grip.ctx is not None:
        grip.ctx.session = {"session_id": "default"}  # type: ignore[assignment]
    return grip.tame


@behaviour(points=CHAINS)
def sets_garbage_in_the_context(grip: CallSite) -> Any:
    """Sets a context key to what JSON cannot say."""
    if grip.ctx is not None:
        grip.ctx.set("zoo.garbage", object())
    return grip.tame


@behaviour(points=CHAINS)
def states_no_language(grip: CallSite) -> Any:
    """States a language that is none."""
    if grip.ctx is not None:
        grip.ctx.lang = "no language at all"
    return grip.tame


@behaviour(points=CHAINS, shows="tame")
def clears_the_context(grip: CallSite) -> Any:
    """Takes away every context key it is allowed to."""
    if grip.ctx is not None:
        for key in list(grip.ctx):
            try:
                grip.ctx.unset(key)
            except PermissionError:
                continue
    return grip.tame


@behaviour(points=CHAINS, shows="tame")
def writes_after_returning(grip: CallSite) -> Any:
    """Keeps what it was given, and writes to what it kept the time before and in the middle of being judged."""
    ctx = grip.ctx
    for kept in grip.cage.kept:
        kept.set("zoo.kept", "should never be seen")
        kept.emit("zoo.unseen", {"why": "it came too late"})
    grip.cage.kept.append(ctx)
    if ctx is not None:
        grip.cage.thread(partial(_keep_writing, ctx))
    return grip.tame


def _keep_writing(ctx: Ctx) -> None:
    for number in range(1_000):
        ctx.set(f"zoo.{number}", number)


@behaviour(points=("handler",))
def moves_its_turn_elsewhere(grip: CallSite) -> Any:
    """Assigns the session of somebody else to its turn."""
    if grip.turn is not None:
        grip.turn.session = Session("somebody-else")
    return grip.tame


@behaviour(points=("handler",), shows="tame")
def breaks_its_turn(grip: CallSite) -> Any:
    """Assigns nonsense to every attribute of its turn."""
    if grip.turn is not None:
        for name in list(vars(grip.turn)):
            setattr(grip.turn, name, None)
    return None


@behaviour(points=("handler",), shows="tame")
def drops_the_denylists_at_work(grip: CallSite) -> Any:
    """Takes every denylist off the session, as a handler."""
    if grip.turn is not None:
        grip.turn.session = grip.turn.session.without(*DENYLISTS)
    return grip.tame


@behaviour(points=("handler",), shows="tame")
def remembers_too_much(grip: CallSite) -> Any:
    """Remembers two thousand things at once."""
    if grip.turn is not None:
        entries = {f"zoo:{number}": {"value": "x"} for number in range(2_000)}
        grip.turn.session = grip.turn.session.replace(intent_context=entries)
    return grip.tame


@behaviour(points=("handler",), shows="tame")
def speaks_after_returning(grip: CallSite) -> Any:
    """Keeps its turn, and says something in the one before long after that has ended."""
    for turn in grip.cage.kept:
        turn.emit("zoo.late", {"why": "it came too late"})
    grip.cage.kept.append(grip.turn)
    return grip.tame


BEHAVIOURS: Final = behaviours_in(globals())


_KEYS: Final[Mapping[str, Any]] = {
    "a_cancellation": (CANCELED, True),
    "a_cancel_reason": (CANCEL_REASON, "on purpose"),
    "who_cancelled": (CANCEL_BY, "somebody.else"),
    "the_utterance_id": (UTTERANCE_ID, "another turn"),
    "the_session": (SESSION, {"session_id": "somebody-else"}),
    **{f"the_{kind}_stamps": (key, ["somebody.else"]) for kind, key in STAMP_KEYS.items()},
}

_TOPICS: Final[Mapping[str, str]] = {
    "an_end_marker": topics.UTTERANCE_HANDLED,
    "a_match": topics.INTENT_MATCHED,
    "a_failure_to_match": topics.INTENT_UNMATCHED,
    "a_cancellation_notice": topics.UTTERANCE_CANCELLED,
    "a_start": topics.HANDLER_START,
    "a_completion": topics.HANDLER_COMPLETE,
    "an_error": topics.HANDLER_ERROR,
    "an_acceptance": topics.HANDLER_ACCEPTED,
    "a_done_signal": topics.HANDLER_DONE,
    "a_sign_of_life": topics.HOST_ALIVE,
    "a_rendering": topics.SPEECH_RENDERED,
    "a_dispatch": "tame:answer",
}


def ways_to_emit(grip: CallSite) -> Iterator[Callable[[str, Mapping[str, Any]], None]]:
    """Every public way in which a plugin can put something on the bus, from where it stands."""
    host, utterance_id = grip.plugin.host, grip.utterance_id

    def send(topic: str, data: Mapping[str, Any]) -> None:
        host.send(Message(topic, data, {UTTERANCE_ID: utterance_id} if utterance_id else {}))

    yield host.emit
    yield send
    if grip.ctx is not None:
        yield grip.ctx.emit
    if grip.turn is not None:
        yield grip.turn.emit


def _forged_key(name: str, key: str, value: Any) -> Behaviour:
    def act(grip: CallSite) -> Any:
        if grip.ctx is not None:
            grip.ctx.set(key, value)
        return grip.tame

    return Behaviour(f"forges_{name}", f"Sets the context key {key!r}.", act, CHAINS, ("inline",))


def _forged_message(name: str, topic: str) -> Behaviour:
    def act(grip: CallSite) -> Any:
        # Whoever is behind this turn, and whatever it is called, the signal is for them.
        data = {"topic": "tame:answer", "exception": "forged", "host": "somebody.else", "outcome": "forged"}
        for door in ways_to_emit(grip):
            try:
                door(topic, data)
            except (PermissionError, ValueError):
                grip.cage.refused += 1
        return grip.tame

    # A forgery that a chain is to send on acceptance spoils the whole output; anything else is refused on the spot.
    return Behaviour(f"forges_{name}", f"Emits {topic!r} through every door there is.", act, modes=("inline", "loop"),
                     shows="tame")  # fmt: skip


@behaviour(points=CHAINS, shows="tame")
def forges_quietly(grip: CallSite) -> Any:
    """Tries every key of the frame, says nothing when it is refused, and goes on as if all were well."""
    if grip.ctx is not None:
        for key, value in _KEYS.values():
            with suppress(PermissionError):
                grip.ctx.set(key, value)
            with suppress(PermissionError):
                grip.ctx.unset(key)
    return grip.tame


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_for_nobody(grip: CallSite) -> Any:
    """Claims for a handler that does not exist."""
    return Match("zoo.nobody", "go", grip.lang, grip.artifact[0])


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_for_somebody_else(grip: CallSite) -> Any:
    """Claims for a handler of another plugin, with slots it never asked for."""
    return Match("tame", "answer", grip.lang, grip.artifact[0], {"zoo": "a slot nobody asked for"})


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_a_reserved_name(grip: CallSite) -> Any:
    """Claims for an intent name that no skill may register."""
    return Match("tame", sorted(RESERVED_INTENT_NAMES)[0], grip.lang, grip.artifact[0])


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_what_nobody_said(grip: CallSite) -> Any:
    """Claims an utterance that was not among the candidates."""
    return Match("tame", "answer", grip.lang, "something nobody said")


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_in_another_language(grip: CallSite) -> Any:
    """Claims in a language this assistant does not speak."""
    return Match("tame", "answer", "tlh", grip.artifact[0])


BEHAVIOURS: Final = (
    *(_forged_key(name, key, value) for name, (key, value) in _KEYS.items()),
    *(_forged_message(name, topic) for name, topic in _TOPICS.items()),
    *behaviours_in(globals()),
)
