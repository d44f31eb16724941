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
from hark.testing.faults.plugin import CHAINS, Behaviour, CallSite, behaviour, behaviours_in, ctx_at, turn_at
from hark.testing.faults.wrong_values import hostile_session


@behaviour(points=CHAINS, shows="nothing")
def drops_the_denylists(site: CallSite) -> Any:
    """Takes every denylist off the session."""
    ctx_at(site).session = ctx_at(site).session.without(*DENYLISTS)
    return site.normal


@behaviour(points=("matcher",), shows="nothing", diverts=True)
def claims_without_denylists(site: CallSite) -> Any:
    """Claims with a session that has lost its denylists and preferences."""
    session = site.session or Session()
    updated = session.without(*DENYLISTS, *TRANSFORMER_PREFERENCES)
    return Match("control", "answer", site.lang, site.artifact[0], updated_session=updated)


@behaviour(points=("matcher",), shows="nothing", diverts=True)
def claims_with_another_session(site: CallSite) -> Any:
    """Claims with another session."""
    return Match("control", "answer", site.lang, site.artifact[0], updated_session=Session("another-session"))


@behaviour(points=CHAINS, shows="nothing", diverts=True)
def moves_to_another_session(site: CallSite) -> Any:
    """Replaces the turn's session by another."""
    ctx_at(site).session = Session("another-session", blacklisted_skills=["control"])
    return site.normal


@behaviour(points=CHAINS, shows="nothing", diverts=True)
def moves_to_the_device(site: CallSite) -> Any:
    """Puts an empty session of the device itself in the place of the turn's."""
    ctx_at(site).session = Session()
    return site.normal


@behaviour(points=CHAINS, shows="malformed")
def sets_a_session_of_its_own_making(site: CallSite) -> Any:
    """Sets a session of a subclass that raises when it is read."""
    ctx_at(site).session = hostile_session(ctx_at(site).session)
    return site.normal


@behaviour(points=CHAINS)
def sets_garbage_as_session(site: CallSite) -> Any:
    """Sets a dict where a session belongs."""
    ctx_at(site).session = {"session_id": "default"}  # type: ignore[assignment]
    return site.normal


@behaviour(points=CHAINS)
def sets_garbage_in_the_context(site: CallSite) -> Any:
    """Sets a context key to what JSON cannot say."""
    ctx_at(site).set("faults.garbage", object())
    return site.normal


@behaviour(points=CHAINS)
def states_no_language(site: CallSite) -> Any:
    """States a language that is none."""
    ctx_at(site).lang = "no language at all"
    return site.normal


@behaviour(points=CHAINS, shows="nothing")
def clears_the_context(site: CallSite) -> Any:
    """Takes away every context key it is allowed to."""
    for key in list(ctx_at(site)):
        try:
            ctx_at(site).unset(key)
        except PermissionError:
            continue
    return site.normal


@behaviour(points=CHAINS, shows="nothing")
def writes_after_returning(site: CallSite) -> Any:
    """Keeps what it was given, and writes to what it kept the time before and while its result is checked."""
    ctx = ctx_at(site)
    for kept in site.switch.kept:
        kept.set("faults.kept", "should never be seen")
        kept.emit("faults.unseen", {"why": "it came too late"})
    site.switch.kept.append(ctx)
    site.switch.thread(partial(_keep_writing, ctx))
    return site.normal


def _keep_writing(ctx: Ctx) -> None:
    for number in range(1_000):
        ctx.set(f"faults.{number}", number)


@behaviour(points=("handler",))
def moves_its_turn_elsewhere(site: CallSite) -> Any:
    """Assigns another session to its turn."""
    turn_at(site).session = Session("another-session")
    return site.normal


@behaviour(points=("handler",), shows="nothing")
def breaks_its_turn(site: CallSite) -> Any:
    """Assigns nonsense to every attribute of its turn."""
    for name in list(vars(turn_at(site))):
        setattr(turn_at(site), name, None)
    return None


@behaviour(points=("handler",), shows="nothing")
def drops_the_denylists_at_work(site: CallSite) -> Any:
    """Takes every denylist off the session, as a handler."""
    turn_at(site).session = turn_at(site).session.without(*DENYLISTS)
    return site.normal


@behaviour(points=("handler",), shows="nothing")
def remembers_too_much(site: CallSite) -> Any:
    """Remembers two thousand things at once."""
    entries = {f"faults:{number}": {"value": "x"} for number in range(2_000)}
    turn_at(site).session = turn_at(site).session.replace(intent_context=entries)
    return site.normal


@behaviour(points=("handler",), shows="nothing")
def speaks_after_returning(site: CallSite) -> Any:
    """Keeps its turn, and says something in the one before long after that has ended."""
    for turn in site.switch.kept:
        turn.emit("faults.late", {"why": "it came too late"})
    site.switch.kept.append(turn_at(site))
    return site.normal


_KEYS: Final[Mapping[str, Any]] = {
    "a_cancellation": (CANCELED, True),
    "a_cancel_reason": (CANCEL_REASON, "on purpose"),
    "who_cancelled": (CANCEL_BY, "another.skill"),
    "the_utterance_id": (UTTERANCE_ID, "another turn"),
    "the_session": (SESSION, {"session_id": "another-session"}),
    **{f"the_{kind}_stamps": (key, ["another.skill"]) for kind, key in STAMP_KEYS.items()},
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
    "a_dispatch": "control:answer",
}


def ways_to_emit(site: CallSite) -> Iterator[Callable[[str, Mapping[str, Any]], None]]:
    """Every public way in which a plugin can put something on the bus, at this call site."""
    host, utterance_id = site.plugin.host, site.utterance_id

    def send(topic: str, data: Mapping[str, Any]) -> None:
        host.send(Message(topic, data, {UTTERANCE_ID: utterance_id} if utterance_id else {}))

    yield host.emit
    yield send
    if site.ctx is not None:
        yield site.ctx.emit
    if site.turn is not None:
        yield site.turn.emit


def _forged_key(name: str, key: str, value: Any) -> Behaviour:
    def act(site: CallSite) -> Any:
        ctx_at(site).set(key, value)
        return site.normal

    return Behaviour(f"forges_{name}", f"Sets the context key {key!r}.", act, CHAINS, ("inline",))


def _forged_message(name: str, topic: str) -> Behaviour:
    def act(site: CallSite) -> Any:
        # Addressed to whichever handler this turn has.
        data = {"topic": "control:answer", "exception": "forged", "host": "another.skill", "outcome": "forged"}
        for emit in ways_to_emit(site):
            try:
                emit(topic, data)
            except (PermissionError, ValueError):
                site.switch.refused += 1
        return site.normal

    # A forgery that a chain is to send on acceptance spoils the whole output; anything else is refused on the spot.
    return Behaviour(f"forges_{name}", f"Emits {topic!r} in every way there is.", act, modes=("inline", "loop"),
                     shows="nothing")  # fmt: skip


@behaviour(points=CHAINS, shows="nothing")
def forges_quietly(site: CallSite) -> Any:
    """Tries every key of the frame, says nothing when it is refused, and goes on as if nothing had happened."""
    for key, value in _KEYS.values():
        with suppress(PermissionError):
            ctx_at(site).set(key, value)
        with suppress(PermissionError):
            ctx_at(site).unset(key)
    return site.normal


@behaviour(points=("matcher",), shows="nothing", diverts=True)
def claims_for_no_handler(site: CallSite) -> Any:
    """Claims for a handler that does not exist."""
    return Match("faults.missing", "go", site.lang, site.artifact[0])


@behaviour(points=("matcher",), shows="nothing", diverts=True)
def claims_for_another_plugin(site: CallSite) -> Any:
    """Claims for a handler of another plugin, with slots it never asked for."""
    return Match("control", "answer", site.lang, site.artifact[0], {"faults": "an unexpected slot"})


@behaviour(points=("matcher",), shows="nothing", diverts=True)
def claims_a_reserved_name(site: CallSite) -> Any:
    """Claims for an intent name that no skill may register."""
    return Match("control", sorted(RESERVED_INTENT_NAMES)[0], site.lang, site.artifact[0])


@behaviour(points=("matcher",), shows="nothing", diverts=True)
def claims_what_was_not_said(site: CallSite) -> Any:
    """Claims an utterance that was not among the candidates."""
    return Match("control", "answer", site.lang, "something that was not said")


@behaviour(points=("matcher",), shows="nothing", diverts=True)
def claims_in_another_language(site: CallSite) -> Any:
    """Claims in a language this assistant does not speak."""
    return Match("control", "answer", "tlh", site.artifact[0])


BEHAVIOURS: Final = (
    *(_forged_key(name, key, value) for name, (key, value) in _KEYS.items()),
    *(_forged_message(name, topic) for name, topic in _TOPICS.items()),
    *behaviours_in(globals()),
)
